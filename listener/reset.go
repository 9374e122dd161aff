package listener

import (
	"context"
	"sync"
	"time"
)

// Limits of how many requests one connection may take back. A browser takes
// back all that a page still loads when its reader goes on to another.
const (
	leastBurst = 400 // at one moment, or
	burstPages = 3   // times the requests that may be under way, whichever is more
	resetRate  = 20  // a second, for ever
)

func (c *Config) resetBurst() int { return max(leastBurst, burstPages*c.Streams) }

// bucket runs over when it is filled faster than it drains.
type bucket struct {
	mu    sync.Mutex // guards the fields below
	level float64
	at    time.Time
}

// add puts one in, and reports whether that was more than it holds.
func (b *bucket) add(now time.Time, holds int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.at.IsZero() {
		b.level = max(0, b.level-resetRate*now.Sub(b.at).Seconds())
	}
	b.at = now
	b.level++
	return b.level > float64(holds)
}

// Reset notes that the client of a request took it back. When it does that too
// often, its connection is closed, and Reset returns true. ctx is the
// request's.
func Reset(ctx context.Context, now time.Time) bool {
	h, ok := ctx.Value(entryKey{}).(held)
	if !ok || !h.entry.resets.add(now, h.guard.cfg.Load().resetBurst()) {
		return false
	}
	h.guard.mu.Lock()
	open := h.entry.in
	h.guard.removeLocked(h.entry)
	h.guard.mu.Unlock()
	if open {
		h.guard.resets.Add(1)
		_ = h.entry.close() // it is open no more, which is what is wanted
	}
	return open
}
