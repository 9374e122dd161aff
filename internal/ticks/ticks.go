// Package ticks calls a function again and again, until a context ends.
//
//	ticks.Each(ctx, time.Second, func(now time.Time) { registry.Sweep(now) })
//
// Calls never overlap. One that takes longer than the time between two delays
// the next and leaves out those in between.
package ticks

import (
	"context"
	"time"
)

// Each calls f every so often, which must be positive, for the first time when
// that time is over. It returns when ctx has ended, and never while f runs.
func Each(ctx context.Context, every time.Duration, f func(now time.Time)) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			f(now)
		}
	}
}
