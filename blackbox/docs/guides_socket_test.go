//go:build unix

package docs

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/blackbox/launch"
	"github.com/andreimerlescu/concert/internal/pages"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// guideRow is a row of a guide's table of where requests go.
var guideRow = regexp.MustCompile("(?m)^\\| `(/[^`]*)` \\| (\\w+) \\|$")

// outcome is what a full room answers to a request of a kind: whether the site
// is reached, by somebody with a pass and by a stranger.
type outcome struct {
	class          string // in concert_requests_total
	holder         bool
	stranger       bool
	strangerStatus int
}

var outcomes = map[string]outcome{
	"page":   {"page", false, false, http.StatusOK}, // with the waiting page
	"asset":  {"asset", true, false, http.StatusForbidden},
	"stream": {"stream", true, false, http.StatusForbidden},
	"public": {"public-asset", true, true, http.StatusOK},
	"bypass": {"bypass", true, true, http.StatusOK},
	"ban":    {"", false, false, http.StatusTooManyRequests},
}

// TestGuides runs Concert with the settings of each guide and a full room, and
// asks for the paths of its table.
func TestGuides(t *testing.T) {
	found := 0
	for _, p := range readPages(t) {
		if !strings.HasPrefix(p.Path, "docs/guides/") || strings.HasSuffix(p.Path, "/README.md") {
			continue
		}
		found++
		t.Run(p.Path, func(t *testing.T) {
			t.Parallel()
			g := startGuide(t, p)
			rows := guideRow.FindAllStringSubmatch(p.Prose, -1)
			if len(rows) < 3 {
				t.Fatalf("%d rows say where requests go", len(rows))
			}
			for i, row := range rows {
				g.check(row[1], row[2], fmt.Sprintf("203.0.113.%d", 20+i))
			}
		})
	}
	if found < 6 {
		t.Errorf("%d guides", found)
	}
}

// guide is a Concert with the settings of a guide, and a visitor's pass.
type guide struct {
	*world
	p    *launch.Process
	pass string
}

func startGuide(t *testing.T, p pages.Page) *guide {
	t.Helper()
	g := &guide{world: newWorld(t)}
	var settings []string
	for _, b := range p.Blocks {
		if b.Language == "env" {
			settings = append(settings, strings.Split(strings.TrimSpace(b.Text), "\n")...)
		}
	}
	if len(settings) == 0 {
		t.Fatal("there are no settings in it")
	}
	site := strings.NewReplacer(g.replaced...).Replace("http://127.0.0.1:3000")
	var log string
	g.p, log = g.launch(launch.Options{
		Args: []string{"-upstream", site, "-cap", "1", "-door-max", "0"},
		Env:  settings,
	})
	if strings.Contains(log, "is not a variable") {
		t.Errorf("a setting is none:\n%s", log)
	}
	resp, _ := g.get("/", "203.0.113.10", "")
	for _, c := range resp.Cookies() {
		if c.Name == "concert_admit" {
			g.pass = c.Value
		}
	}
	if g.pass == "" {
		t.Fatalf("no pass came with the first page, which had status %d", resp.StatusCode)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	t.Cleanup(cancel)
	g.fill(ctx, g.p)
	return g
}

// check asks for a path as a stranger and with the pass.
func (g *guide) check(path, kind, from string) {
	g.t.Helper()
	want, ok := outcomes[kind]
	if !ok {
		g.t.Errorf("%s: %q is no kind of request", path, kind)
		return
	}
	before := g.count(want.class)
	resp, site := g.get(path, from, "")
	if site != want.stranger || resp.StatusCode != want.strangerStatus {
		g.t.Errorf("%s, without a pass: status %d, of the site: %t; the guide says %s", path, resp.StatusCode, site, kind)
	}
	if kind == "ban" {
		if resp, _ := g.get("/", from, ""); resp.StatusCode != http.StatusTooManyRequests {
			g.t.Errorf("%s: who asked for it is not banned: status %d", path, resp.StatusCode)
		}
		return
	}
	if resp, site := g.get(path, from, g.pass); site != want.holder {
		g.t.Errorf("%s, with a pass: status %d, of the site: %t; the guide says %s", path, resp.StatusCode, site, kind)
	}
	rawtest.Until(g.t, path+" is counted as "+kind, func() bool { return g.count(want.class) == before+2 })
}

// get asks for a path as a browser at an address, and reports whether the site
// answered.
func (g *guide) get(path, from, pass string) (*http.Response, bool) {
	g.t.Helper()
	req, err := http.NewRequestWithContext(g.t.Context(), http.MethodGet, g.p.URL+path, nil)
	if err != nil {
		g.t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html")
	req.Header.Set("X-Forwarded-For", from)
	if pass != "" {
		req.Header.Set("Cookie", "concert_admit="+pass)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		g.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		g.t.Fatal(err)
	}
	return resp, string(body) == siteSays
}

// count is how many requests of a class were finished.
func (g *guide) count(class string) (n int) {
	g.t.Helper()
	for line := range strings.Lines(g.ask(g.p.URL + "/_room/metrics")) {
		var value int
		if head, tail, ok := strings.Cut(line, "} "); ok && strings.HasPrefix(head, "concert_requests_total{class=\""+class+"\"") {
			if _, err := fmt.Sscan(tail, &value); err != nil {
				g.t.Fatal(err)
			}
			n += value
		}
	}
	return n
}
