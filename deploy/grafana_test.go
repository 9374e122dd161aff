package deploy

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// dashboard is the part of a dashboard of Grafana's that the tests read.
type dashboard struct {
	Title, UID    string
	SchemaVersion int
	Templating    struct {
		List []struct{ Name, Type, Definition string }
	}
	Panels []dashboardPanel
}

type dashboardPanel struct {
	ID                       int
	Type, Title, Description string
	GridPos                  struct{ X, Y, W, H int }
	Datasource               struct{ Type, UID string }
	Targets                  []struct{ RefID, Expr, LegendFormat string }
}

func readDashboard(t *testing.T) dashboard {
	t.Helper()
	var d dashboard
	dec := json.NewDecoder(bytes.NewReader([]byte(text(t, "grafana/concert.json"))))
	if err := dec.Decode(&d); err != nil || dec.More() {
		t.Fatalf("not one JSON value: %v", err)
	}
	return d
}

var (
	variable    = regexp.MustCompile(`\$\{?([a-z]\w*)`)
	legendLabel = regexp.MustCompile(`\{\{(\w+)\}\}`)
	grouping    = regexp.MustCompile(`by \(([^)]*)\)`)
)

// TestDashboard: every query is about metrics and labels that exist, and every
// panel stands in a place of its own and says what it shows.
func TestDashboard(t *testing.T) {
	d := readDashboard(t)
	if d.Title == "" || d.UID == "" || d.SchemaVersion < 36 || len(d.Panels) == 0 {
		t.Fatalf("%q, %q, version %d, %d panels", d.Title, d.UID, d.SchemaVersion, len(d.Panels))
	}
	var known []string
	for _, v := range d.Templating.List {
		known = append(known, v.Name)
	}
	asked := expand(t)
	ids := map[int]bool{}
	for i, p := range d.Panels {
		if p.Title == "" || ids[p.ID] {
			t.Errorf("panel %d %q has no title, or the number of another", p.ID, p.Title)
		}
		ids[p.ID] = true
		for _, other := range d.Panels[:i] {
			if a, b := p.GridPos, other.GridPos; a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H {
				t.Errorf("%q lies over %q", p.Title, other.Title)
			}
		}
		if g := p.GridPos; g.X < 0 || g.W < 1 || g.H < 1 || g.X+g.W > 24 {
			t.Errorf("%q lies outside: %+v", p.Title, g)
		}
		if p.Type == "row" {
			continue
		}
		if p.Description == "" || p.Datasource.Type != "prometheus" || p.Datasource.UID != "${datasource}" || len(p.Targets) == 0 {
			t.Errorf("%q: description %q, source %+v, %d queries", p.Title, p.Description, p.Datasource, len(p.Targets))
		}
		for _, target := range p.Targets {
			for _, m := range variable.FindAllStringSubmatch(target.Expr, -1) {
				if !slices.Contains(known, m[1]) {
					t.Errorf("%q: nobody sets $%s", p.Title, m[1])
				}
			}
			checkQuery(t, p.Title, asked(target.Expr))
			checkLegend(t, p.Title, target.Expr, target.LegendFormat)
		}
	}
}

// expand puts values in the place of a dashboard's variables.
func expand(t *testing.T) func(string) string {
	t.Helper()
	values := strings.NewReplacer("$__rate_interval", "5m", "$job", ".*", "$instance", ".*")
	return values.Replace
}

// checkLegend: a curve is named by a label that its query leaves.
func checkLegend(t *testing.T, where, query, legend string) {
	t.Helper()
	for _, m := range legendLabel.FindAllStringSubmatch(legend, -1) {
		by := grouping.FindStringSubmatch(query)
		if grouped := by != nil; grouped && !slices.Contains(strings.Split(by[1], ", "), m[1]) || !grouped && m[1] != "instance" {
			t.Errorf("%q: %s leaves no label %s", where, query, m[1])
		}
	}
	if legend == "" {
		t.Errorf("%q: a curve has no name", where)
	}
}

// TestDashboardShowsWhatAlertsAreAbout: whoever is woken finds the figure.
func TestDashboardShowsWhatAlertsAreAbout(t *testing.T) {
	var shown []string
	asked := expand(t)
	for _, p := range readDashboard(t).Panels {
		for _, target := range p.Targets {
			shown = append(shown, checkQuery(t, p.Title, asked(target.Expr))...)
		}
	}
	var file alertFile
	if err := yaml.Unmarshal([]byte(text(t, "prometheus/alerts.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			for _, name := range checkQuery(t, r.Alert, r.Expr) {
				if name != "up" && !slices.Contains(shown, name) {
					t.Errorf("%s is about %s, which the dashboard does not show", r.Alert, name)
				}
			}
		}
	}
}
