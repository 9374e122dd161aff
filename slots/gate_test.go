package slots

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// wantState checks the three numbers of a gate.
func wantState(t *testing.T, g *Gate, inUse, capacity, waiting int) {
	t.Helper()
	if g.InUse() != inUse || g.Cap() != capacity || g.Waiting() != waiting {
		t.Fatalf("in use %d, cap %d, waiting %d; want %d, %d, %d",
			g.InUse(), g.Cap(), g.Waiting(), inUse, capacity, waiting)
	}
}

func fill(t *testing.T, g *Gate, n int) {
	t.Helper()
	for range n {
		if !g.TryAcquire() {
			t.Fatalf("gate full at %d of %d", g.InUse(), g.Cap())
		}
	}
}

// arrive starts n waiters, one after another, that send their number on
// entered when they get in, or leave when the test ends. The caller releases for
// them. It needs a bubble.
func arrive(t *testing.T, g *Gate, n int) <-chan int {
	entered := make(chan int, n)
	for i := range n {
		go func() {
			if g.Acquire(t.Context().Done(), time.Hour) == Acquired {
				entered <- i
			}
		}()
		synctest.Wait() // so that they queue in the order of their numbers
	}
	return entered
}

// wantEntered checks who got in since the last check.
func wantEntered(t *testing.T, entered <-chan int, want ...int) {
	t.Helper()
	synctest.Wait()
	if len(entered) != len(want) {
		t.Fatalf("%d entered, want %v", len(entered), want)
	}
	got := make([]int, len(want))
	for i := range got {
		got[i] = <-entered
	}
	slices.Sort(got) // those granted together report in any order
	if !slices.Equal(got, want) {
		t.Fatalf("waiters %v entered, want %v", got, want)
	}
}

func TestTryAcquire(t *testing.T) {
	g := New(2)
	fill(t, g, 2)
	if g.TryAcquire() {
		t.Fatal("took a third slot of two")
	}
	g.Release()
	fill(t, g, 1)
	wantState(t, g, 2, 2, 0)
}

func TestWaitersEnterInOrderOnePerRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(1)
		fill(t, g, 1)
		entered := arrive(t, g, 5)
		wantState(t, g, 1, 1, 5)
		for i := range 5 {
			g.Release()
			if g.TryAcquire() {
				t.Fatal("a newcomer overtook a waiter")
			}
			wantEntered(t, entered, i)
		}
		g.Release()
		wantState(t, g, 0, 1, 0)
	})
}

func TestOutcomes(t *testing.T) {
	closed := make(chan struct{})
	close(closed)
	tests := []struct {
		name  string
		free  bool
		done  <-chan struct{}
		wait  time.Duration
		want  Outcome
		takes time.Duration
	}{
		{"free", true, nil, time.Minute, Acquired, 0},
		{"free, try only", true, nil, 0, Acquired, 0},
		{"full, try only", false, nil, 0, TimedOut, 0},
		{"full, negative wait", false, nil, -1, TimedOut, 0},
		{"full, try only, gone", false, closed, 0, Left, 0},
		{"full, gone", false, closed, time.Minute, Left, 0},
		{"full", false, nil, time.Minute, TimedOut, time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := New(1)
				if !tt.free {
					fill(t, g, 1)
				}
				start := time.Now()
				got := g.Acquire(tt.done, tt.wait)
				if got != tt.want || time.Since(start) != tt.takes {
					t.Errorf("%v after %v, want %v after %v", got, time.Since(start), tt.want, tt.takes)
				}
				wantState(t, g, 1, 1, 0)
			})
		})
	}
}

// Whoever is gone when the time runs out has left, whichever is noticed first:
// the wait is so short that it is over before the gate looks.
func TestGoneAndOutOfTimeIsLeft(t *testing.T) {
	done := make(chan struct{})
	close(done)
	g := New(0)
	for range 1000 {
		if got := g.Acquire(done, time.Nanosecond); got != Left {
			t.Fatalf("outcome %v, want %v", got, Left)
		}
	}
}

func TestLeaverInTheMiddleIsSkipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(1)
		fill(t, g, 1)
		first := arrive(t, g, 1)
		done := make(chan struct{})
		left := make(chan Outcome, 1)
		go func() { left <- g.Acquire(done, time.Hour) }()
		synctest.Wait()
		last := arrive(t, g, 1)
		close(done)
		if got := <-left; got != Left {
			t.Fatalf("outcome %v, want %v", got, Left)
		}
		wantState(t, g, 1, 1, 2)
		g.Release()
		wantEntered(t, first, 0)
		g.Release()
		wantEntered(t, last, 0)
	})
}

// The hand-over is stepped through by hand, because which case a select takes
// when two are ready is chance.
func TestLeavingJustAsGranted(t *testing.T) {
	g := New(1)
	fill(t, g, 1)
	w1, w2 := g.enter(), g.enter()
	g.Release()
	if !g.leave(w1) {
		t.Fatal("the granted waiter was told that it holds nothing")
	}
	wantState(t, g, 1, 1, 1)
	g.Release() // what Acquire does for a caller that is gone
	if !g.leave(w2) {
		t.Fatal("the grant was not passed on")
	}
}

func TestMisusePanics(t *testing.T) {
	tests := []struct {
		name string
		call func()
	}{
		{"release without hold", func() { New(1).Release() }},
		{"release what the gate withholds", func() { New(0).Release() }},
		{"negative capacity", func() { New(-1) }},
		{"zero lease", func() { Lease{}.Release() }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			tt.call()
		})
	}
}

// TestStress runs callers that wait and leave against a changing capacity, in
// real concurrency. A grant lost on the way would leave somebody waiting for
// ever; in the end every slot is back and nobody waits.
func TestStress(t *testing.T) {
	const most = 4
	g := New(most)
	var inside, over, served atomic.Int64
	var callers sync.WaitGroup
	for i := range 16 {
		callers.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 1))
			for range 300 {
				done := make(chan struct{})
				if rng.IntN(3) == 0 { // leaves about when it enters
					callers.Go(func() { close(done) })
				}
				if g.Acquire(done, time.Hour) == Acquired {
					if inside.Add(1) > most {
						over.Add(1)
					}
					runtime.Gosched()
					inside.Add(-1)
					served.Add(1)
					g.Release()
				}
			}
		})
	}
	callers.Go(func() {
		rng := rand.New(rand.NewPCG(0, 2))
		for range 1000 {
			g.SetCap(rng.IntN(most + 1))
			runtime.Gosched()
		}
		g.SetCap(most)
	})
	callers.Wait()
	if over.Load() > 0 || served.Load() == 0 {
		t.Errorf("%d served, %d of them beyond the cap", served.Load(), over.Load())
	}
	wantState(t, g, 0, most, 0)
}
