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
