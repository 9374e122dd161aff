package slots

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/andreimerlescu/sema"

	"github.com/andreimerlescu/concert/internal/allocs"
)

// The three facts about sema v1.1.0 that shape this package. When one of the
// last two no longer holds, the gate can become simpler.

func TestSemaTryAcquireAndReleaseAreExactAndFree(t *testing.T) {
	s := sema.Must(2)
	for i, want := range []bool{true, true, false} {
		if got := s.TryAcquire(); got != want {
			t.Fatalf("attempt %d at a semaphore of 2: %v, want %v", i+1, got, want)
		}
	}
	for i, want := range []bool{true, true, false} {
		if err := s.Release(); (err == nil) != want {
			t.Fatalf("release %d of a semaphore holding 2: %v", i+1, err)
		}
	}
	if n := allocs.PerRun(1000, func() { s.TryAcquire(); _ = s.Release() }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

func TestSemaSetCapBelowHeldForgetsHolders(t *testing.T) {
	s := sema.Must(4)
	for range 4 {
		s.TryAcquire()
	}
	if err := s.SetCap(2); err != nil {
		t.Fatal(err)
	}
	if s.Len() != 0 || !s.TryAcquire() {
		t.Error("sema now remembers its holders: Gate may shrink by SetCap alone")
	}

	g := New(4) // the gate, asked the same
	fill(t, g, 4)
	g.SetCap(2)
	if g.TryAcquire() || g.InUse() != 4 {
		t.Errorf("shrunk to 2 with 4 inside, the gate says %d and lets more in", g.InUse())
	}
}

// releasing is a context that releases a slot at the moment AcquireWith has
// given up its lock and is about to wait: the first Done is asked for under
// the lock, the second after it.
type releasing struct {
	context.Context
	asked   int
	release func()
}

func (c *releasing) Done() <-chan struct{} {
	c.asked++
	if c.asked == 2 {
		c.release()
	}
	return c.Context.Done()
}

func TestSemaAcquireWithMissesReleases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const trials = 10_000 // nearly every one of them shows it
		missed := false
		for i := 0; i < trials && !missed; i++ {
			s := sema.Must(1)
			s.TryAcquire()
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			err := s.AcquireWith(&releasing{Context: ctx, release: func() { _ = s.Release() }})
			missed = err != nil && s.TryAcquire() // timed out, with the slot free
			cancel()
		}
		if !missed {
			t.Error("sema now sees every release: Gate may wait by AcquireWith")
		}
	})
}

// One waiter, one release racing with the start of its wait: the gate must
// wake it every time. Time in the bubble stands still unless a wake is lost.
func TestGateMissesNoRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for i := range 3000 {
			g := New(1)
			fill(t, g, 1)
			var ready atomic.Bool
			outcome := make(chan Outcome)
			go func() {
				ready.Store(true)
				outcome <- g.Acquire(nil, time.Hour)
			}()
			for !ready.Load() {
				runtime.Gosched()
			}
			for range i % 50 { // vary the moment
				ready.Load()
			}
			g.Release()
			if got := <-outcome; got != Acquired {
				t.Fatalf("trial %d: %v", i, got)
			}
		}
	})
}
