package memory

import (
	"math"
	"time"

	"github.com/andreimerlescu/concert/line"
)

// newTicket issues a ticket; the caller places it.
func (l *Line) newTicket(n instant, c client, rank uint8) (int32, *ticket) {
	i := l.slab.alloc()
	t := l.slab.at(i)
	t.number = l.number
	t.issued = l.time(n).UnixMilli()
	t.seen = n
	l.number++
	l.numbers[t.number] = i
	o := l.slab.origin(i)
	o.rank, o.lead = rank, l.lead(rank)
	l.own(i, c)
	l.tally.queued++
	return i, t
}

// own records whose ticket i is.
func (l *Line) own(i int32, c client) {
	l.slab.origin(i).client = c
	if c.size > 0 {
		l.clients[c]++
	}
}

// sight records that the owner was seen, and returns the time since the last
// time; negative when there was none. k is the ticket's class until now.
func (l *Line) sight(n instant, t *ticket, k class) time.Duration {
	since := time.Duration(-1)
	if t.seen != never {
		since = n.since(t.seen)
	}
	switch k {
	case fresh:
		l.first.poll(t, since)
		learnGap(t, since, l.first.obedient())
	case absent:
		if !t.has(flagPolled) {
			l.first.late(t, since)
		}
	case polled, passed:
		learnGap(t, since, l.first.obedient())
	}
	t.seen = n
	t.flags |= flagPolled
	return since
}

// await makes a ticket, which lies at a spot, wait to be seen again after p,
// of class fresh or polled.
func (l *Line) await(n instant, i int32, t *ticket, at spot, k class, p time.Duration) {
	l.sawFrom(at.class(), k, t, p)
	t.flags &^= flagCalled
	t.asked = millis(p)
	due := claimFor(t)
	if k == fresh {
		due = l.first.presence(t)
	}
	l.wheel.set(i, n.add(due))
	l.order.set(at, k)
}

// lead is the head start of a rank, in places.
func (l *Line) lead(rank uint8) int32 {
	return int32(min(int64(rank)*int64(l.set.RankLead), math.MaxInt32))
}

// evict drops a ticket whose owner stayed away or left.
func (l *Line) evict(i int32) {
	l.tally.evicted++
	l.drop(i, line.EndedExpired)
}

// drop takes a ticket, which nobody stands at the door with, out of the line.
func (l *Line) drop(i int32, why line.Ended) {
	t := l.slab.at(i)
	l.wheel.unlink(i)
	l.order.remove(i)
	if !t.has(flagGuest) {
		delete(l.numbers, t.number)
		l.ended.note(t.number, why)
		l.returns.end(l.now, t.number, l.since)
		l.journal.drop(t.number)
	}
	if c := l.slab.origin(i).client; c.size > 0 {
		if l.clients[c]--; l.clients[c] == 0 {
			delete(l.clients, c)
		}
	}
	l.slab.release(i)
}

// find is the live ticket that a request brought, 0 if there is none. One
// whose life has ended is dropped, one of before a crash is put back.
func (l *Line) find(n instant, k line.Ticket) int32 {
	if k.IsZero() {
		return 0
	}
	i, ok := l.numbers[k.Number]
	if !ok {
		return l.putBack(n, k)
	}
	if l.slab.at(i).has(flagLost) {
		l.found(i, k)
	}
	if l.dead(n, i) {
		l.evict(i)
		return 0
	}
	return i
}

// place describes ticket i to its owner.
func (l *Line) place(i int32, ahead *counts, o outlook, s line.State) line.Place {
	t := l.slab.at(i)
	p := ahead.live() + 1
	return line.Place{
		Ticket:    line.Ticket{Number: t.number, Issued: time.UnixMilli(t.issued)},
		State:     s,
		Position:  p,
		Ahead:     p - 1,
		ETA:       l.eta(p, o),
		PollAfter: time.Duration(t.asked) * time.Millisecond,
		Promoted:  t.has(flagPromoted),
	}
}

// stateOf is what a class is called to the outside.
func stateOf(k class) line.State {
	switch k {
	case absent:
		return line.StateAbsent
	case called:
		return line.StateCalled
	case door, guest:
		return line.StateDoor
	default:
		return line.StateWaiting
	}
}

func millis(d time.Duration) int32 { return int32(d / time.Millisecond) }
