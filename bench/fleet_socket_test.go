package bench

import (
	"testing"
	"time"

	"github.com/andreimerlescu/concert/bench/fleet"
	"github.com/andreimerlescu/concert/blackbox/launch"
)

func build(tb testing.TB) string {
	tb.Helper()
	binary, err := launch.Build(tb.Context(), tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	return binary
}

// TestFleet has a crowd wait while an instance and Redis fail, at a size for
// every run of the tests; BenchmarkFleet is the same at full size.
// Invariants 1 to 4.
func TestFleet(t *testing.T) {
	t.Parallel()
	holds(t, fleet.Run(t, build(t), fleet.Scenario{
		Instances: 3, Visitors: 500, Arrival: 2 * time.Second, Latency: 300 * time.Millisecond, Cap: 20, Timeout: 5 * time.Minute,
		Faults: []fleet.Fault{
			fleet.RestartRedis(3*time.Second, 500*time.Millisecond),
			fleet.KillInstance(6*time.Second, 0, time.Second),
		},
	}))
}

// TestFleetCut cuts an instance off from Redis for longer than its lease lasts.
// It does so with relays: every cable that is laid for a network namespace, as the
// benchmarks do, tells the browsers of other tests that the network has changed.
// Invariants 1 to 4.
func TestFleetCut(t *testing.T) {
	t.Parallel()
	holds(t, fleet.Run(t, build(t), fleet.Scenario{
		Instances: 3, Visitors: 400, Arrival: 2 * time.Second, Latency: 300 * time.Millisecond, Cap: 20, Timeout: 5 * time.Minute,
		Faults: []fleet.Fault{fleet.CutInstance(2*time.Second, 1, 9*time.Second)},
	}))
}

// holds fails a test when something did not hold that has to at any speed.
func holds(t *testing.T, r *fleet.Report) {
	t.Helper()
	t.Log(r)
	for _, broken := range r.Broken() {
		t.Error(broken)
	}
	if r.Inverted > 0.4 { // half of them would be chance
		t.Errorf("%.1f %% of the pairs out of order", 100*r.Inverted)
	}
}

// BenchmarkFleetAtPeace has a crowd wait while nothing fails.
func BenchmarkFleetAtPeace(b *testing.B) {
	judge(b, fleet.Run(b, build(b), fleet.Scenario{
		Instances: 3, Visitors: 3000, Arrival: 5 * time.Second, Latency: 400 * time.Millisecond, Cap: 60, Timeout: 5 * time.Minute,
	}))
}

// BenchmarkFleetFault has the same crowd wait while one thing fails. With -short
// it is left to BenchmarkFleet, in which all of them fail.
func BenchmarkFleetFault(b *testing.B) {
	if testing.Short() {
		b.Skip("BenchmarkFleet has all of these faults")
	}
	binary := build(b)
	for name, fault := range map[string]fleet.Fault{
		"kill":    fleet.KillInstance(9*time.Second, 0, 2*time.Second),
		"cut":     fleet.CutInstance(9*time.Second, 1, 12*time.Second),
		"pause":   fleet.PauseRedis(9*time.Second, 3*time.Second),
		"restart": fleet.RestartRedis(9*time.Second, 2*time.Second),
	} {
		b.Run(name, func(b *testing.B) {
			judge(b, fleet.Run(b, binary, fleet.Scenario{
				Instances: 3, Visitors: 3000, Arrival: 5 * time.Second, Latency: 400 * time.Millisecond, Cap: 60,
				Timeout: 5 * time.Minute, Faults: []fleet.Fault{fault}, Network: true,
			}))
		})
	}
}

// judge reports what a run has shown.
func judge(b *testing.B, r *fleet.Report) {
	b.Helper()
	b.Log(r)
	b.ReportMetric(float64(r.Calls)/float64(r.Served), "calls/visitor")
	b.ReportMetric(100*r.Utilisation, "%busy")
	b.ReportMetric(100*r.Inverted, "%inverted")
	b.ReportMetric(float64(r.Peak), "peak")
	if len(r.Recovery) == 1 {
		b.ReportMetric(r.Recovery[0].Took.Seconds(), "s/recovery")
	}
	for _, broken := range r.Broken() {
		b.Error(broken)
	}
}

// BenchmarkFleet is TestFleet at full size.
func BenchmarkFleet(b *testing.B) {
	judge(b, fleet.Run(b, build(b), fleet.Scenario{
		Instances: 3, Visitors: 5000, Arrival: 5 * time.Second, Latency: 500 * time.Millisecond, Cap: 60, Timeout: 5 * time.Minute, Network: true,
		Faults: []fleet.Fault{
			fleet.KillInstance(8*time.Second, 0, 2*time.Second),
			fleet.PauseRedis(22*time.Second, 3*time.Second),
			fleet.RestartRedis(32*time.Second, 2*time.Second),
			fleet.CutInstance(42*time.Second, 1, 12*time.Second),
		},
	}))
}
