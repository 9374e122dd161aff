package memory

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/andreimerlescu/concert/line"
)

const (
	// settleTime is the longest downtime after which those who were there
	// before it are awaited, and the longest that anybody is.
	settleTime = 30 * time.Second
	// retryTime bounds how much longer somebody is awaited whose questions were
	// not answered for a while: pages then ask at longer and longer pauses, of
	// up to the time that it has lasted.
	retryTime = 10 * time.Second
	// unnoticed is how long a line may stand still before questions fail.
	unnoticed = time.Second
)

var errNotEmpty = errors.New("line/memory: restore into a line that is in use")

// Snapshot copies the line. The error is always nil.
func (l *Line) Snapshot(_ context.Context, now time.Time) (line.Snapshot, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.begin(now)
	defer l.finish(n)
	s := line.Snapshot{Taken: l.time(n), Next: l.number, Line: l.since, Sequence: l.journal.sequence, Lost: l.returns.lost(n)}
	s.Tickets = make([]line.SavedTicket, 0, l.order.total.live())
	l.order.walk(0, func(i int32, k class, _ *counts) bool {
		if !l.slab.at(i).has(flagLost) {
			s.Tickets = append(s.Tickets, l.saved(i, k))
		}
		return true
	})
	return s, nil
}

// saved is ticket i, of a class, as it is saved.
func (l *Line) saved(i int32, k class) line.SavedTicket {
	t, o := l.slab.at(i), l.slab.origin(i)
	return line.SavedTicket{
		Ticket:    line.Ticket{Number: t.number, Issued: time.UnixMilli(t.issued)},
		Client:    o.client.prefix(),
		LastSeen:  l.time(t.seen),
		Polled:    t.has(flagPolled),
		Promoted:  t.has(flagPromoted),
		Rank:      o.rank,
		Absent:    k == absent || k == door,
		AtDoor:    k == door,
		PollAfter: max(expected(t), minPoll),
	}
}

// Restore fills an empty line; it is an error if the line is not empty.
// Tickets whose lifetime ended while the process was down are left out, and
// so are those without a number or with one that came before. The first-poll
// grace of the others begins anew, as they could not poll.
func (l *Line) Restore(_ context.Context, now time.Time, s line.Snapshot, returning bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.begin(now)
	if l.order.total != (counts{}) {
		return errNotEmpty
	}
	down := n.since(l.instant(s.Taken))
	for k := range s.Tickets {
		l.restore(n, &s.Tickets[k], down, returning)
	}
	l.number = max(l.number, s.Next)
	l.returns.begin(n, l.set.TTL, &s, returning, l.since)
	if down <= settleTime || len(s.Tickets) == 0 {
		l.returns.until = n.add(lostTime)
	}
	l.finish(n)
	l.starting = true
	return nil
}

// restore puts a saved ticket at the end. After a quick restart whoever was
// there before is on the way back, and awaited until they should have asked
// again: nobody behind them goes first. Otherwise it counts like one
// that is yet to poll for the first time. An absent one stays so until seen;
// one whose stand at the door was cut off is back as soon as anybody.
func (l *Line) restore(n instant, s *line.SavedTicket, down time.Duration, cutOff bool) {
	seen := l.instant(s.LastSeen)
	_, double := l.numbers[s.Ticket.Number]
	if s.Ticket.IsZero() || double || n.since(seen) >= l.set.TTL {
		return
	}
	i := l.slab.alloc()
	t := l.slab.at(i)
	t.number, t.issued, t.seen = s.Ticket.Number, s.Ticket.Issued.UnixMilli(), min(seen, n)
	if s.Polled {
		t.flags |= flagPolled
	} else {
		t.seen = n
	}
	if s.Promoted {
		t.flags |= flagPromoted
	}
	l.restoreRank(i, s.Rank)
	l.numbers[t.number] = i
	l.own(i, clientOf(s.Client))
	l.number = max(l.number, t.number+1)
	most := min(maxPoll, l.set.TTL/3)
	t.asked = millis(most)
	if s.PollAfter > 0 {
		t.asked = millis(min(s.PollAfter, most))
	}
	switch {
	case s.Absent && !(s.AtDoor && cutOff):
		l.order.push(i, absent)
	case down <= settleTime:
		l.wheel.set(i, l.awaitUntil(n, t, down, cutOff))
		l.order.push(i, awaited)
	default:
		l.wheel.set(i, n.add(time.Duration(t.asked)*time.Millisecond))
		l.order.push(i, fresh)
	}
}

// awaitUntil is how long a restored ticket is awaited. Where nobody noticed a
// thing, as in a hand-over, everybody asks when they were to. Otherwise their
// last question may not have been answered, or be forgotten.
func (l *Line) awaitUntil(n instant, t *ticket, down time.Duration, cutOff bool) instant {
	if !cutOff && down <= unnoticed {
		return max(n, min(t.seen.add(claimFor(t))+instant(down), n.add(settleTime)))
	}
	return n.add(min(max(claimFor(t), min(down*5/4, retryTime)+lateBy), settleTime))
}

// restoreRank gives a saved ticket its rank, and a head start that agrees with
// where it stands: ordinary tickets are found by their keys, which must rise.
func (l *Line) restoreRank(i int32, rank uint8) {
	o := l.slab.origin(i)
	o.rank, o.lead = rank, l.lead(rank)
	if !l.order.ordinary(i) {
		return
	}
	number := int64(l.slab.at(i).number)
	key := max(number-int64(o.lead), l.restored)
	o.lead = int32(max(math.MinInt32, min(number-key, math.MaxInt32)))
	l.restored = key
}
