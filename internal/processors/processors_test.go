package processors

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/internal/allocs"
	"github.com/andreimerlescu/concert/internal/cputime"
)

// TestGauge: one processor after a second with little to do, all at the first sign
// of work, and fewer changes where one is not enough again and again.
func TestGauge(t *testing.T) {
	const small = 8 << 20
	var g gauge
	feed := func(windows int, w seen) (changes int) {
		for range windows {
			if g.next(w) {
				changes++
			}
		}
		return changes
	}
	for _, step := range []struct {
		what    string
		windows int
		seen    seen
		changes int
		one     bool
	}{
		{"just begun", second - 1, seen{used: 0.1, heap: small}, 0, false},
		{"little for a second", 1, seen{used: 1, heap: small}, 1, true},
		{"one that is busy, but enough", longest*second + 1, seen{used: 0.7, heap: small}, 0, true},
		{"more work than for one", 1, seen{used: 0.9, heap: small}, 1, false},
		{"little, not for long", second - 1, seen{used: 0.5, heap: small}, 0, false},
		{"much in a window", 1, seen{used: 30, heap: small}, 0, false},
		{"little for a second again", second, seen{used: 0.8, heap: small}, 1, true},
		{"a crowd in memory", 1, seen{used: 0.1, heap: 33 << 20}, 1, false},
		{"the crowd stays", 5 * second, seen{used: 0.1, heap: 33 << 20}, 0, false},
		{"the crowd has gone", 2 * second, seen{used: 0.1, heap: small}, 1, true},
		{"others want the processor", 1, seen{used: 0.1, heap: small, late: true}, 1, false},
		{"they go on", 5 * second, seen{used: 0.1, heap: small, late: true}, 0, false},
		{"and stop", 4 * second, seen{used: 0.1, heap: small}, 1, true},
		{"one was not enough, soon", 1, seen{used: 0.9, heap: small}, 1, false},
		{"so it takes longer", 4*second - 1, seen{used: 0.8, heap: small}, 0, false},
		{"but comes", 1, seen{used: 0.8, heap: small}, 1, true},
	} {
		if changes := feed(step.windows, step.seen); changes != step.changes || g.one != step.one {
			t.Errorf("%s: one %v after %d changes, want %v after %d", step.what, g.one, changes, step.one, step.changes)
		}
	}
}

// TestKeeper: what is used of the processor, and whether looks come late, is what
// the gauge goes by.
func TestKeeper(t *testing.T) {
	now, used := time.Unix(1_000_000, 0), time.Duration(0)
	var applied []bool
	k := newKeeper(now, func() (time.Duration, error) { return used, nil }, func(one bool) { applied = append(applied, one) })
	look := func(times int, after, spent time.Duration) {
		for range times {
			now, used = now.Add(after), used+spent
			k.look(now)
		}
	}
	look(second, window, window/2)
	look(second, window+late/2, window/2)
	look(1, window, window)
	look(2*second, window, window/2)
	look(1, window+2*late, 0)
	if want := []bool{true, false, true, false}; !slices.Equal(applied, want) {
		t.Errorf("one processor: %v, want %v", applied, want)
	}
}

// TestKeep: all processors are left to a program in the end.
func TestKeep(t *testing.T) {
	all := runtime.GOMAXPROCS(0)
	stop := Keep(nil)
	apply(true)
	if n := runtime.GOMAXPROCS(0); n != 1 {
		t.Errorf("%d processors, want one", n)
	}
	stop()
	if n := runtime.GOMAXPROCS(0); runtime.GOOS == "linux" && n != all {
		t.Errorf("left with %d processors of %d", n, all)
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
	k := newKeeper(time.Now(), cputime.Used, func(bool) {})
	if n := allocs.PerRun(100, func() { k.look(time.Now()) }); n != 0 {
		t.Errorf("%v allocations for a look", n)
	}
}
