package memory

import (
	"context"
	"time"

	"github.com/andreimerlescu/concert/line"
)

// Poll answers a visitor who asks after their place. The error is always nil.
func (l *Line) Poll(_ context.Context, now time.Time, k line.Ticket) (line.Status, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.serve(now)
	st := line.Status{}
	if i := l.find(n, k); i != 0 {
		st = l.poll(n, i)
	}
	l.finish(n)
	return st, nil
}

func (l *Line) poll(n instant, i int32) line.Status {
	t := l.slab.at(i)
	at := l.order.find(i)
	ahead, own := l.order.before(at), at.class()
	o := l.outlook(n, &ahead)
	since := l.sight(n, t, own)
	st := line.Status{Known: true}
	var state line.State
	switch {
	case own == door:
		st.Ready, state = l.set.Mode == line.Open, line.StateDoor
	case t.has(flagCalled) && l.set.Mode == line.Open:
		// Told before. To ask again instead of coming renews no claim.
		st.Ready, state = true, line.StateCalled
	default:
		p := l.pollAfter(o, false)
		if st.Ready = l.comes(n, o, &ahead, l.horizon(backIn(t, p))); st.Ready {
			l.call(n, i, t, at)
			state = line.StateCalled
		} else {
			l.await(n, i, t, at, polled, p)
		}
	}
	st.Place = l.place(i, &ahead, o, state)
	st.Place.SinceSeen = since
	return st
}

// call tells a ticket's owner to come.
func (l *Line) call(n instant, i int32, t *ticket, at spot) {
	l.sawFrom(at.class(), called, t, minPoll)
	t.flags |= flagCalled
	t.called = n
	t.asked = millis(minPoll)
	l.wheel.set(i, n.add(l.claimTime()))
	l.order.set(at, called)
}

// Look describes a ticket to an operator and changes nothing. The error is
// always nil.
func (l *Line) Look(_ context.Context, now time.Time, k line.Ticket) (line.Status, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.begin(now)
	defer l.finish(n)
	i, ok := l.numbers[k.Number]
	if !ok || l.dead(n, i) {
		return line.Status{Ended: l.became(k.Number, ok)}, nil
	}
	at := l.order.find(i)
	ahead, own := l.order.before(at), at.class()
	return line.Status{
		Known: true,
		Ready: l.ready(i, own),
		Place: l.occupant(n, i, own, &ahead).Place,
	}, nil
}

// became is what became of a ticket that is not in line, or is and has run out.
func (l *Line) became(number uint64, inLine bool) line.Ended {
	switch {
	case inLine:
		return line.EndedExpired
	case number >= l.since && number < l.number && !l.ended.remembers(number):
		return line.EndedExpired // long ago, one way or another
	}
	return l.ended.of(number)
}

// ready reports whether a ticket was told to come, as its owner would hear.
func (l *Line) ready(i int32, own class) bool {
	return l.set.Mode == line.Open && (own == door || l.slab.at(i).has(flagCalled))
}

// Quit removes a ticket whose owner leaves the line on purpose. A ticket that
// is not in line is no error.
func (l *Line) Quit(_ context.Context, now time.Time, k line.Ticket) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.begin(now)
	if i, ok := l.numbers[k.Number]; ok {
		l.tally.evicted++
		l.dismiss(i, line.EndedExpired)
	}
	l.finish(n)
	return nil
}

// dismiss takes a ticket out of the line; requests at the door with it learn
// that it is spent.
func (l *Line) dismiss(i int32, why line.Ended) {
	s := l.stands[i]
	l.clearStands(i)
	l.drop(i, why)
	l.spend(s)
}
