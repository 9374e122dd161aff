package soak

import (
	"strings"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/blackbox/launch"
)

// TestShortSoak holds the invariants, and memory, over some waves.
// Invariants 1 to 5.
func TestShortSoak(t *testing.T) {
	t.Parallel()
	binary, err := launch.Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), Settings{For: 8 * time.Second, Cap: 8, Latency: 40 * time.Millisecond, Binary: binary})
	if err != nil {
		t.Fatal(err)
	}
	for _, broken := range r.Broken() {
		t.Error(broken)
	}
	// How many give up depends on how long the machine makes them wait.
	if r.Admitted == 0 || r.Acts < 10 {
		t.Errorf("too little happened: %s", r)
	}
}

func TestBroken(t *testing.T) {
	sample := func(heap int64, goroutines int) Sample { return Sample{Heap: heap, Goroutines: goroutines} }
	steady := []Sample{sample(1<<20, 5), sample(20<<20, 90), sample(21<<20, 95)}
	good := Report{Settings: Settings{Cap: 4}, Peak: 4, Admitted: 1, Samples: steady}
	if b := good.Broken(); len(b) > 0 {
		t.Errorf("broken: %q", b)
	}
	for want, spoil := range map[string]func(r *Report){
		"3 answers or visits failed, the first: odd": func(r *Report) { r.Failures, r.Failure = 3, "odd" },
		"invariant 1: 5 pages at the origin at once": func(r *Report) { r.Peak = 5 },
		"nobody was admitted":                        func(r *Report) { r.Admitted = 0 },
		"2 requests failed within Concert":           func(r *Report) { r.Last.Internal = 2 },
		"invariant 5: 1 slots were not given back":   func(r *Report) { r.Last.Occupancy = 1 },
		"too short":                         func(r *Report) { r.Samples = steady[:2] },
		"memory grew from 20.0 to 40.0 MiB": func(r *Report) { r.Samples = []Sample{steady[0], steady[1], sample(40<<20, 90)} },
		"goroutines grew from 90 to 200":    func(r *Report) { r.Samples = []Sample{steady[0], steady[1], sample(20<<20, 200)} },
	} {
		r := good
		spoil(&r)
		if b := r.Broken(); len(b) != 1 || !strings.Contains(b[0], want) || !strings.Contains(r.String(), "NOT MET: "+b[0]) {
			t.Errorf("broken %q, want %q", b, want)
		}
	}
}

func TestSettingsAreChecked(t *testing.T) {
	_, err := Run(t.Context(), Settings{For: time.Second, Cap: 1, Latency: time.Hour})
	for _, want := range []string{"for 1s", "cap 1", "latency 1h"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v lacks %q", err, want)
		}
	}
}
