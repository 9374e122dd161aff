package bench

import (
	"testing"

	"github.com/andreimerlescu/concert/bench/drain"
	"github.com/andreimerlescu/concert/blackbox/launch"
)

// BenchmarkDrain runs every preset in front of the built binary.
func BenchmarkDrain(b *testing.B) {
	binary, err := launch.Build(b.Context(), b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	for _, s := range drain.Presets() {
		b.Run(s.Name, func(b *testing.B) {
			for b.Loop() {
				r, err := drain.Run(b.Context(), s, drain.Target{Binary: binary})
				if err != nil {
					b.Fatal(err)
				}
				for _, broken := range r.Broken() {
					b.Error(broken)
				}
				b.ReportMetric(100*r.Utilisation, "%busy")
				b.ReportMetric(100*r.InvertedPairs, "%inverted")
				b.ReportMetric(float64(r.Peak), "peak")
				b.ReportMetric(r.WaitP50, "s-median-wait")
				for _, missed := range r.Missed() {
					b.Log(missed)
				}
			}
		})
	}
}
