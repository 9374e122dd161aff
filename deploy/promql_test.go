package deploy

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// documented is a metric as docs/metrics.md has it.
type documented struct {
	kind   string
	labels []string
}

// outside are metrics that others make of the same scrape.
var outside = map[string]documented{
	"up":                            {kind: "gauge"},
	"process_resident_memory_bytes": {kind: "gauge"},
	"process_cpu_seconds_total":     {kind: "counter"},
}

// metricRow is a row of docs/metrics.md.
var metricRow = regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| (\\w+) \\|([^|]*)\\|")

// metrics reads docs/metrics.md, which is written from the rows that are served.
func metrics(t *testing.T) map[string]documented {
	t.Helper()
	all := map[string]documented{}
	for _, m := range metricRow.FindAllStringSubmatch(text(t, "../docs/metrics.md"), -1) {
		d := documented{kind: m[2]}
		if label := strings.TrimSpace(m[3]); label != "" {
			d.labels = strings.Split(label, ", ")
		}
		all[m[1]] = d
	}
	if len(all) < 50 {
		t.Fatalf("docs/metrics.md has %d metrics", len(all))
	}
	return all
}

// checkQuery has Prometheus's own parser read an expression, and holds each of
// its metrics to what docs/metrics.md says of it. It returns their names.
func checkQuery(t *testing.T, where, query string) (names []string) {
	t.Helper()
	expr, err := parser.ParseExpr(query)
	if err != nil {
		t.Errorf("%s: %v\n%s", where, err, query)
		return nil
	}
	all := metrics(t)
	parser.Inspect(expr, func(node parser.Node, path []parser.Node) error {
		selector, ok := node.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		name := strings.TrimSuffix(selector.Name, "_bucket")
		d, ok := all[name]
		if !ok {
			if d, ok = outside[name]; !ok {
				t.Errorf("%s: docs/metrics.md has no %s", where, selector.Name)
				return nil
			}
		}
		names = append(names, name)
		if histogram := name != selector.Name; histogram != (d.kind == "histogram") {
			t.Errorf("%s: %s, where %s is a %s", where, selector.Name, name, d.kind)
		}
		if grows := d.kind != "gauge"; grows != isRate(path) {
			t.Errorf("%s: %s is a %s: only what grows has a rate, and only its rate tells something", where, name, d.kind)
		}
		for _, m := range selector.LabelMatchers {
			if !slices.Contains(append(d.labels, "job", "instance", labels.MetricName), m.Name) {
				t.Errorf("%s: %s has no label %s", where, name, m.Name)
			}
		}
		return nil
	})
	return names
}

// isRate reports whether a selector with these ancestors is that of a rate.
func isRate(path []parser.Node) bool {
	return slices.ContainsFunc(path, func(n parser.Node) bool {
		call, ok := n.(*parser.Call)
		return ok && (call.Func.Name == "rate" || call.Func.Name == "increase")
	})
}
