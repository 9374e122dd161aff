package memory

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/andreimerlescu/concert/line"
)

// purgeBatch is how many tickets RemoveClients looks at under one lock: about
// a tenth of a millisecond.
const purgeBatch = 8 * pageSize

// Configure swaps the settings. The error is always nil.
func (l *Line) Configure(_ context.Context, now time.Time, s line.Settings) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.begin(now)
	l.configure(n, s)
	l.finish(n)
	return nil
}

// Promote moves a ticket to a position; 1 is the very front, [line.Front] the
// first place behind earlier promotions. A ticket among those stays where it is.
func (l *Line) Promote(_ context.Context, now time.Time, k line.Ticket, position int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.begin(now)
	i, ok := l.numbers[k.Number]
	if !ok {
		return fmt.Errorf("promote ticket %d: %w", k.Number, line.ErrUnknownTicket)
	}
	if position == line.Front {
		run, inside := l.order.promotedRun(i)
		if inside {
			l.finish(n)
			return nil
		}
		position = run + 1
	}
	if position < 1 || position > l.order.total.live() {
		return fmt.Errorf("promote ticket %d to position %d of %d: %w",
			k.Number, position, l.order.total.live(), line.ErrNoPosition)
	}
	if t := l.slab.at(i); t.has(flagLost) { // paid for before its owner is back
		l.found(i, k)
		t.seen = n
	}
	own := l.order.remove(i)
	l.slab.at(i).flags |= flagPromoted
	l.order.insert(l.order.gapAt(position), i, own)
	l.put(i)
	l.tally.promoted++
	l.finish(n)
	return nil
}

// Remove takes a ticket out of the line.
func (l *Line) Remove(_ context.Context, now time.Time, k line.Ticket) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.begin(now)
	i, ok := l.numbers[k.Number]
	if !ok {
		return fmt.Errorf("remove ticket %d: %w", k.Number, line.ErrUnknownTicket)
	}
	l.tally.removed++
	l.dismiss(i, line.EndedRemoved)
	l.finish(n)
	return nil
}

// RemoveClients takes out every ticket of the clients inside p. It looks at
// all tickets, a batch at a time, and lets others in between, so a ticket
// issued to such a client meanwhile may stay: refuse its requests first. The
// error is that of ctx, checked between batches.
func (l *Line) RemoveClients(ctx context.Context, now time.Time, p netip.Prefix, spare ...netip.Prefix) (int, error) {
	removed := 0
	key := clientOf(p)
	if key.size == 0 {
		return 0, nil
	}
	spared := make([]client, 0, len(spare))
	for _, q := range spare {
		spared = append(spared, clientOf(q))
	}
	for from, more := int32(1), true; more; from += purgeBatch {
		if err := ctx.Err(); err != nil {
			return removed, fmt.Errorf("remove clients in %v: %w", p, err)
		}
		var k int
		k, more = l.purge(now, key, spared, from)
		removed += k
	}
	return removed, nil
}

// purge removes the tickets of clients inside p in one batch of the slab and
// reports whether there are more batches.
func (l *Line) purge(now time.Time, p client, spared []client, from int32) (removed int, more bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.begin(now)
	end := min(from+purgeBatch, l.slab.used)
	for i := from; i < end; i++ {
		c := &l.slab.origin(i).client
		if c.within(&p) && !slices.ContainsFunc(spared, func(q client) bool { return c.within(&q) }) {
			l.dismiss(i, line.EndedRemoved)
			removed++
		}
	}
	l.tally.removed += uint64(removed)
	l.finish(n)
	return removed, end < l.slab.used
}

// List returns count tickets from position first+1 on. The error is always
// nil.
func (l *Line) List(ctx context.Context, now time.Time, first, count int) ([]line.Occupant, error) {
	return l.AppendList(ctx, now, nil, first, count)
}

// AppendList is List for a caller that goes over a long line and has room for a
// part of it: it appends to dst.
func (l *Line) AppendList(_ context.Context, now time.Time, dst []line.Occupant, first, count int) ([]line.Occupant, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.begin(now)
	defer l.finish(n)
	first = max(first, 0)
	count = min(count, l.order.total.live()-first)
	if count <= 0 {
		return dst, nil
	}
	dst = slices.Grow(dst, count)
	end := len(dst) + count
	l.order.walk(first, func(i int32, k class, ahead *counts) bool {
		dst = append(dst, l.occupant(n, i, k, ahead))
		return len(dst) < end
	})
	return dst, nil
}

// occupant describes ticket i to an operator.
func (l *Line) occupant(n instant, i int32, k class, ahead *counts) line.Occupant {
	t := l.slab.at(i)
	p := l.place(i, ahead, l.outlook(n, ahead), stateOf(k))
	p.SinceSeen = n.since(t.seen)
	return line.Occupant{
		Place:    p,
		Client:   l.slab.origin(i).client.prefix(),
		LastSeen: l.time(t.seen),
		Polled:   t.has(flagPolled),
		Rank:     l.slab.origin(i).rank,
	}
}

// Stats are the counters and gauges at now.
func (l *Line) Stats(now time.Time) line.Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.begin(now)
	defer l.finish(n)
	l.meter.fold(n, l.set.Policy.Cap)
	use := 0.0
	if c := l.set.Policy.Cap; c > 0 {
		use = min(1, l.meter.use.value()/float64(c))
	}
	t, all := &l.tally, &l.order.total
	return line.Stats{
		Settings:      l.set,
		InFlight:      l.slots.out,
		Live:          all.live(),
		Present:       all.present(),
		AtDoor:        l.atDoor,
		Called:        int(all[called]),
		MeanHold:      l.meter.hold,
		AdmissionRate: l.meter.rate.value() * float64(time.Second),
		Utilization:   use,
		QueuedTotal:   t.queued,
		AdmittedTotal: t.admitted,
		EvictedTotal:  t.evicted,
		RemovedTotal:  t.removed,
		PromotedTotal: t.promoted,
		TimeoutsTotal: t.timeouts,
		RefusedTotal:  t.refused,
		PassedTotal:   t.passed,
		ReturnedTotal: t.returned,
	}
}
