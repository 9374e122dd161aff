package processors

import (
	"runtime"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/internal/allocs"
)

// TestGauge: one processor after a second with little to do, all at the first sign
// of work, and fewer changes where one is not enough again and again.
func TestGauge(t *testing.T) {
	const small = 8 << 20
	var g gauge
	feed := func(windows int, used float64, heap uint64) (changes int) {
		for range windows {
			if g.next(used, heap) {
				changes++
			}
		}
		return changes
	}
	for _, step := range []struct {
		what    string
		windows int
		used    float64
		heap    uint64
		changes int
		one     bool
	}{
		{"just begun", 19, 0.1, small, 0, false},
		{"little for a second", 1, 1, small, 1, true},
		{"one that is busy, but enough", 1000, 0.7, small, 0, true},
		{"more work than for one", 1, 0.9, small, 1, false},
		{"little, not for long", 19, 0.5, small, 0, false},
		{"much in a window", 1, 9, small, 0, false},
		{"little for a second again", 20, 0.8, small, 1, true},
		{"a crowd in memory", 1, 0.1, 33 << 20, 1, false},
		{"the crowd stays", 100, 0.1, 33 << 20, 0, false},
		{"the crowd has gone", 40, 0.1, small, 1, true},
		{"one was not enough, soon", 1, 0.9, small, 1, false},
		{"so it takes longer", 79, 0.8, small, 0, false},
		{"but comes", 1, 0.8, small, 1, true},
	} {
		if changes := feed(step.windows, step.used, step.heap); changes != step.changes || g.one != step.one {
			t.Errorf("%s: one %v after %d changes, want %v after %d", step.what, g.one, changes, step.one, step.changes)
		}
	}
}

// TestKeep: a program that does nothing comes to run on one processor, one that
// works on all, and they are left to it in the end.
func TestKeep(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOMAXPROCS(0) == 1 {
		t.Skip("nothing is done here")
	}
	all := runtime.GOMAXPROCS(0)
	stop := Keep(nil)
	defer stop()
	pause := time.NewTicker(window / 5)
	defer pause.Stop()
	await(t, 1, func() { <-pause.C })
	await(t, all, func() {})
	stop()
	if n := runtime.GOMAXPROCS(0); n != all {
		t.Errorf("left with %d processors of %d", n, all)
	}
}

// await does what it is told to until there are so many processors.
func await(t *testing.T, want int, do func()) {
	t.Helper()
	for began := time.Now(); runtime.GOMAXPROCS(0) != want; do() {
		if time.Since(began) > time.Minute {
			t.Fatalf("on %d processors for a minute, want %d", runtime.GOMAXPROCS(0), want)
		}
	}
}

// TestWhatIsSetStands: an operator's GOMAXPROCS is not touched.
func TestWhatIsSetStands(t *testing.T) {
	before := runtime.NumGoroutine()
	defer Keep([]string{"HOME=/", "GOMAXPROCS=2"})()
	if n := runtime.NumGoroutine(); n != before {
		t.Errorf("%d goroutines more", n-before)
	}
}

func TestLookingAllocatesNothing(t *testing.T) {
	k := &keeper{use: use{at: time.Now()}}
	k.gauge.windows = -1 << 30 // never the end of a second
	if n := allocs.PerRun(100, func() { k.look(time.Now()) }); n != 0 {
		t.Errorf("%v allocations for a look", n)
	}
}
