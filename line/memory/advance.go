package memory

import (
	"context"
	"time"

	"github.com/andreimerlescu/concert/line"
)

// sweepBatch is how many tickets a sweep looks at under one lock.
const sweepBatch = 8 * pageSize

// Advance does what the passage of time alone brings. It does a bounded part
// of a large sweep and then asks to be called again at once. The error is
// always nil.
func (l *Line) Advance(_ context.Context, now time.Time) (time.Time, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.serve(now)
	l.sweep(n)
	l.settle(n)
	l.promised = l.nextEvent(n)
	if l.promised == eternity {
		return time.Time{}, nil
	}
	return l.time(l.promised), nil
}

// nextEvent is when time alone will change something that nobody asks for.
func (l *Line) nextEvent(n instant) instant {
	at := eternity
	if l.order.total.live() > 0 || l.cursor != 0 {
		at = max(n, min(l.sweepAt, n.add(beat)))
	}
	if l.order.total.standing() == 0 || l.set.Mode != line.Open {
		return at
	}
	if n < l.holdUntil {
		return max(n, min(at, l.holdUntil))
	}
	if l.order.total[awaited] > 0 {
		at = min(at, l.wheel.next(n.add(settleTime)))
	}
	if l.keeping { // until patience ends, or presences that have claims do
		at = min(at, l.wheel.next(l.keptUntil))
	}
	if l.bucket.inflow > 0 && l.bucket.permits(n) == 0 {
		at = min(at, l.bucket.next())
	}
	return max(at, n)
}

// sweep removes tickets whose life has ended: all of them every
// Settings.Sweep, a batch at a time.
func (l *Line) sweep(n instant) {
	if l.cursor == 0 {
		if n < l.sweepAt {
			return
		}
		l.cursor = 1
	}
	end := min(l.cursor+sweepBatch, l.slab.used)
	for i := l.cursor; i < end; i++ {
		if l.slab.at(i).number != 0 && l.dead(n, i) {
			l.evict(i)
		}
	}
	l.cursor = end
	if end >= l.slab.used {
		l.cursor = 0
		l.sweepAt = n.add(l.set.Sweep)
		l.returns.forget(n)
	}
}

// dead reports whether ticket i's life has ended. At the door nobody dies.
func (l *Line) dead(n instant, i int32) bool {
	t := l.slab.at(i)
	life := l.set.TTL
	if g := l.set.FirstPollGrace; g > 0 && !t.has(flagPolled) {
		life = min(life, g)
	}
	return n.since(t.seen) >= life && l.stands[i] == nil
}
