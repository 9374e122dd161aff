package ticks

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 3500*time.Millisecond)
		defer cancel()
		var at []time.Duration
		Each(ctx, time.Second, func(now time.Time) { at = append(at, now.Sub(began)) })
		if len(at) != 3 || at[0] != time.Second || at[2] != 3*time.Second {
			t.Errorf("called at %v, want after 1, 2 and 3 seconds", at)
		}
		if took := time.Since(began); took != 3500*time.Millisecond {
			t.Errorf("returned after %v, want when the context ends", took)
		}
	})
}

func TestPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		wait := func(d time.Duration, goesOn bool, at time.Duration) {
			t.Helper()
			if got := Pause(ctx, d); got != goesOn || time.Since(began) != at {
				t.Errorf("a pause of %v: %v after %v, want %v after %v", d, got, time.Since(began), goesOn, at)
			}
		}
		wait(time.Second, true, time.Second)
		wait(0, true, time.Second)
		wait(-time.Second, true, time.Second)
		wait(time.Hour, false, 2500*time.Millisecond)
		wait(0, false, 2500*time.Millisecond)
	})
}
