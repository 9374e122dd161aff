package memory

import (
	"slices"
	"time"

	"github.com/andreimerlescu/concert/line"
)

const (
	// oldestReturn bounds the age of a ticket that may return after a crash.
	oldestReturn = 24 * time.Hour
	// lostTime is how long after a crash those are awaited of whom nothing is
	// known but that they may exist: the first poll of most comes sooner.
	lostTime = 5 * time.Second
	// lostMost bounds how many of them are awaited.
	lostMost = 4096
)

// spansMost bounds how many crashes are told apart: those before count as one.
const spansMost = 16

// returns is what is known of tickets that are missing after a crash. Their
// owners bring them back.
//
// When all is known of the line but the last moment before the crash, a ticket
// from that moment tells that those with smaller numbers may exist, too. They
// are awaited for lostTime after the start, so that nobody is let in ahead of
// them. When less is known, nobody at all is let in for as long, from the first
// return on: there is no telling who stands ahead of whom.
type returns struct {
	last    instant             // until when tickets may return
	spans   []line.Span         // the numbers that may
	unknown bool                // any number may: nobody is let in before lostTime is over
	spent   map[uint64]struct{} // returned tickets that have ended since
	until   instant             // the end of lostTime
}

// begin allows the return of those who are missing from a snapshot. crashed
// says that there may be later ones; numbers from since on are our own.
func (r *returns) begin(n instant, ttl time.Duration, s *line.Snapshot, crashed bool, since uint64) {
	r.spans = slices.Clone(s.Lost)
	r.unknown = crashed && !s.Whole
	switch {
	case r.unknown:
		r.spans = []line.Span{{From: 0, To: since}}
	case crashed && s.Next < since:
		r.spans = append(r.spans, line.Span{From: s.Next, To: since})
	}
	if k := len(r.spans) - spansMost; k > 0 {
		r.spans[k].From = r.spans[0].From
		r.spans = r.spans[k:]
	}
	if len(r.spans) > 0 {
		r.last = n.add(ttl)
	}
}

// from is the smallest number that may be missing together with this one;
// ok is false when this one may not.
func (r *returns) from(number uint64) (from uint64, ok bool) {
	for _, s := range r.spans {
		if s.From <= number && number < s.To {
			return s.From, true
		}
	}
	return 0, false
}

// lost are the numbers that may still return.
func (r *returns) lost(n instant) []line.Span {
	if n >= r.last {
		return nil
	}
	return slices.Clone(r.spans)
}

// end notes that a ticket has ended, so that it does not return once more.
func (r *returns) end(n instant, number, since uint64) {
	if number < since && n < r.last {
		r.spent[number] = struct{}{}
	}
}

// forget frees the memory of used returns once none can come.
func (r *returns) forget(n instant) {
	if n >= r.last && len(r.spent) > 0 {
		clear(r.spent)
	}
}

// putBack gives a ticket from before this process its place again, once: those
// who come back within a lifetime of the start were alive, as far as anybody
// can know.
func (l *Line) putBack(n instant, k line.Ticket) int32 {
	r := &l.returns
	if n >= r.last || k.Number >= l.since || !k.Issued.Before(l.start) || l.start.Sub(k.Issued) > oldestReturn {
		return 0
	}
	from, ok := r.from(k.Number)
	if _, spent := r.spent[k.Number]; !ok || spent {
		return 0
	}
	switch {
	case n >= r.until:
	case r.unknown:
		l.holdUntil = r.until
	default:
		l.awaitLost(from, k.Number)
	}
	i := l.lost(k.Number, absent)
	l.found(i, k)
	return i
}

// awaitLost awaits those whose numbers are from one to another and who are not
// known.
func (l *Line) awaitLost(from, to uint64) {
	r := &l.returns
	if to-from > lostMost {
		return
	}
	for number := from; number < to; number++ {
		_, known := l.numbers[number]
		if _, spent := r.spent[number]; !known && !spent {
			l.wheel.set(l.lost(number, awaited), r.until)
		}
	}
}

// lost gives a number of before its place, though nobody has asked for it.
func (l *Line) lost(number uint64, k class) int32 {
	i := l.slab.alloc()
	t := l.slab.at(i)
	t.number, t.seen, t.flags = number, never, flagLost
	l.numbers[number] = i
	l.order.insert(l.order.gapByKey(l.order.key(i)), i, k)
	return i
}

// found makes a ticket of a number whose owner has come.
func (l *Line) found(i int32, k line.Ticket) {
	t := l.slab.at(i)
	t.issued = k.Issued.UnixMilli()
	t.flags = flagPolled
	l.tally.returned++
	l.put(i)
}

// forgetLost gives up on a number whose owner has not come. They may yet.
func (l *Line) forgetLost(i int32) {
	l.order.remove(i)
	delete(l.numbers, l.slab.at(i).number)
	l.slab.release(i)
}
