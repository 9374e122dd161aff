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
	const step, small, large = 20 * time.Millisecond, 8 << 20, 33 << 20
	g := newGauge()
	for _, c := range []struct {
		what    string
		during  time.Duration
		share   float64 // of one processor, used
		heap    uint64
		late    bool
		changes int
		one     bool
	}{
		{"just begun", time.Second - step, 0.1, small, false, 0, false},
		{"little for a second", step, 1, small, false, 1, true},
		{"one that is busy, but enough", longest + step, 0.8, small, false, 0, true},
		{"more work than for one", step, 0.9, small, false, 1, false},
		{"little, not for long", time.Second - step, 0.5, small, false, 0, false},
		{"much for a moment", step, 30, small, false, 0, false},
		{"little for a second again", time.Second, 0.8, small, false, 1, true},
		{"a crowd in memory", step, 0.1, large, false, 1, false},
		{"the crowd stays", 5 * time.Second, 0.1, large, false, 0, false},
		{"the crowd has gone", 2 * time.Second, 0.1, small, false, 1, true},
		{"others want the processor", step, 0.1, small, true, 1, false},
		{"they go on", 5 * time.Second, 0.1, small, true, 0, false},
		{"and stop", longest, 0.1, small, false, 1, true},
		{"one was not enough, soon", step, 0.9, small, false, 1, false},
		{"so it takes longer", longest - step, 0.8, small, false, 0, false},
		{"but comes", step, 0.8, small, false, 1, true},
	} {
		changes := 0
		for range c.during / step {
			if g.next(window{step, time.Duration(c.share * float64(step)), c.heap, c.late}) {
				changes++
			}
		}
		if changes != c.changes || g.one != c.one {
			t.Errorf("%s: one %v after %d changes, want %v after %d", c.what, g.one, changes, c.one, c.changes)
		}
	}
}

// TestKeeper: what is used of the processor, and whether looks come late, is what
// the gauge goes by; who has next to nothing to do looks less often.
func TestKeeper(t *testing.T) {
	now, used := time.Unix(1_000_000, 0), time.Duration(0)
	var applied []bool
	k := newKeeper(now, func() (time.Duration, error) { return used, nil }, func(one bool) { applied = append(applied, one) })
	look := func(times int, after time.Duration, share float64, pause time.Duration) {
		t.Helper()
		for range times {
			now, used = now.Add(after), used+time.Duration(share*float64(after))
			if k.look(now); k.pause != pause {
				t.Fatalf("looks again after %v, want %v", k.pause, pause)
			}
		}
	}
	look(50, watchful, 0.5, watchful)
	look(1, watchful, 0, drowsy)
	look(50, drowsy+late, 0.01, drowsy)
	look(1, drowsy, 0.5, watchful)
	look(1, watchful, 1, watchful)
	look(50, watchful, 0.5, watchful)
	look(1, watchful+2*late, 0.5, watchful)
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
