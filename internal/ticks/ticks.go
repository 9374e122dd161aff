// Package ticks waits until a context ends: once, or again and again between the
// calls of a function.
//
//	ticks.Each(ctx, time.Second, func(now time.Time) { registry.Sweep(now) })
//	for !send() && ticks.Pause(ctx, retry) {
//	}
//
// Calls of Each never overlap. One that takes longer than the time between two
// delays the next and leaves out those in between.
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

// Pause returns after d, or as soon as ctx has ended, and reports whether ctx goes
// on. A d of 0 or less is over at once.
func Pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}
