package app

import (
	"fmt"
	"strings"

	"github.com/andreimerlescu/concert/pipeline"
	"github.com/prometheus/client_golang/prometheus"
)

// RefusalsMarkdown is docs/refusals.md: the table of refusals as it stands in
// the code.
func RefusalsMarkdown() []byte {
	out := []byte("# Refusals\n\nEvery way in which Concert turns a request away: one row of one table, one\nrenderer. Browsers get a page, everyone else JSON; what has no title here has no body.\n\n| code | status | title | error |\n| --- | --- | --- | --- |\n")
	for r := pipeline.NotRefused + 1; r < pipeline.NumReasons; r++ {
		t := r.DefaultText()
		out = fmt.Appendf(out, "| `%s` | %d | %s | %s |\n", r.Code(), r.Status(), t.Title, t.Error)
	}
	return out
}

// MetricsMarkdown is docs/metrics.md: the tables of metrics as they stand in
// the code.
func MetricsMarkdown() []byte {
	var b strings.Builder
	b.WriteString("# Metrics\n\n`GET /_room/metrics`, in the Prometheus text format, beside the Go runtime's own.\n\n| metric | type | label | meaning |\n| --- | --- | --- | --- |\n")
	a := &App{}
	for _, r := range a.metricRows() {
		fmt.Fprintf(&b, "| `concert_%s` | %s | | %s |\n", r.Name, typeName(r.Type), r.Help)
	}
	for _, l := range a.metricFamilies() {
		fmt.Fprintf(&b, "| `concert_%s` | %s | %s | %s |\n", l.Name, typeName(l.Type), l.Label, l.Help)
	}
	b.WriteString("| `concert_requests_total` | counter | class, code | Finished requests by class and by hundreds of the status. |\n")
	b.WriteString("| `concert_client_gone_total` | counter | | Clients that left before an answer could be sent. |\n")
	b.WriteString("| `concert_wait_seconds` | histogram | | Time until a page visit was let in. |\n")
	b.WriteString("| `concert_origin_latency_seconds` | histogram | | Time to the origin's response header. |\n")
	return []byte(b.String())
}

func typeName(t prometheus.ValueType) string {
	if t == prometheus.GaugeValue {
		return "gauge"
	}
	return "counter"
}
