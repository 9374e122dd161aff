package memory

import (
	"context"
	"time"

	"github.com/andreimerlescu/concert/line"
)

// Enter judges a page request. The error is always nil.
func (l *Line) Enter(_ context.Context, now time.Time, e line.Entry) (line.Decision, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.serve(now)
	d := l.judge(n, &e)
	l.finish(n)
	return d, nil
}

func (l *Line) judge(n instant, e *line.Entry) line.Decision {
	if e.NoPlace && !e.MayHold {
		return l.judgeGlance(n)
	}
	if i := l.find(n, e.Ticket); i != 0 {
		return l.judgeHolder(n, i, e)
	}
	return l.judgeNewcomer(n, e)
}

// judgeGlance judges a request that is worth neither a place nor a wait, such
// as a prefetch. It leaves its sender's ticket alone, which the visitor will
// need for the page itself.
func (l *Line) judgeGlance(n instant) line.Decision {
	if l.free(n) > 0 && !l.waiting() {
		return l.admit(n)
	}
	return line.Decision{Verdict: line.Busy}
}

// judgeHolder judges an entry with a live ticket.
func (l *Line) judgeHolder(n instant, i int32, e *line.Entry) line.Decision {
	t := l.slab.at(i)
	if l.slab.origin(i).client.size == 0 {
		l.own(i, clientOf(e.Client))
	}
	wasCalled := t.has(flagCalled) && l.set.Mode == line.Open
	if t.has(flagCalled) {
		l.learnReload(n.since(t.called))
	}
	at := l.order.find(i)
	ahead, own := l.order.before(at), at.class()
	since := l.sight(n, t, own)
	if own != door && l.admissible(n, i, &ahead) {
		l.drop(i, line.EndedAdmitted)
		return l.admit(n)
	}
	o := l.outlook(n, &ahead)
	p := l.pollAfter(o, false)
	mayStand := own == door || wasCalled || l.comes(n, o, &ahead, max(l.set.DoorWait, l.horizon(backIn(t, p))))
	if mayStand && e.MayHold && l.atDoor < l.set.DoorMax {
		d := l.stand(n, i, o, e.NoPlace, false)
		d.Place = l.place(i, &ahead, o, line.StateDoor)
		d.Place.SinceSeen = since
		return d
	}
	if own != door {
		own = polled
		l.await(n, i, t, at, own, p)
	}
	if e.NoPlace {
		return line.Decision{Verdict: line.Busy}
	}
	d := line.Decision{Verdict: line.Waiting, Place: l.place(i, &ahead, o, stateOf(own))}
	d.Place.SinceSeen = since
	return d
}

// admissible reports whether ticket i, with those ahead of it, may have a
// slot now.
func (l *Line) admissible(n instant, i int32, ahead *counts) bool {
	if !l.clear(n, ahead) {
		return false
	}
	if ahead.claims() >= l.free(n) {
		l.pass(i)
	}
	return true
}

// clear reports whether a slot is free for somebody with these ahead: it is
// not kept for one of them, or was for long enough.
func (l *Line) clear(n instant, ahead *counts) bool {
	free := l.free(n)
	if free <= 0 || ahead.standing() > 0 {
		return false
	}
	return ahead.claims() < free || int(ahead[awaited]) < free && l.keptEnough(n)
}

// judgeNewcomer judges an entry without a live ticket.
func (l *Line) judgeNewcomer(n instant, e *line.Entry) line.Decision {
	if l.set.Mode == line.Closed {
		return line.Decision{Verdict: line.Shut}
	}
	g := l.gapFor(e)
	all := l.order.ahead(g)
	// Those who have yet to ask for the first time have no claim on slots, but a
	// newcomer does not overtake them either.
	ahead := all.claims() + int(all[fresh])
	if free := l.free(n); free > ahead && all.standing() == 0 && (!e.NoPlace || !l.waiting()) {
		if !l.order.isEnd(g) {
			l.number++ // overtaking counts as an arrival: head starts are measured in those
		}
		return l.admit(n)
	}
	o := l.outlook(n, &all)
	p := l.pollAfter(o, true)
	// To the door goes only who would be let in soon if all of those ahead came,
	// whether or not a slot is free: a crowd that is late must not be overtaken.
	toDoor := e.MayHold && l.atDoor < l.set.DoorMax && l.near(l.outlookIf(n, &all, 1), l.patience(p))
	if e.NoPlace {
		if !toDoor {
			return line.Decision{Verdict: line.Busy}
		}
		return l.standGuest(n, o)
	}
	c := clientOf(e.Client)
	if why := l.limitReached(e, &c, toDoor); why != line.Admitted {
		l.tally.refused++
		return line.Decision{Verdict: why}
	}
	i, t := l.newTicket(n, c, e.Rank)
	if e.Front {
		t.flags |= flagPromoted
		l.tally.promoted++
	}
	return l.join(n, i, g, &all, o, p, toDoor)
}

// limitReached tells by which limit a newcomer gets no place: TooMany or Full;
// Admitted if by none.
func (l *Line) limitReached(e *line.Entry, c *client, toDoor bool) line.Verdict {
	if most := l.set.PerClient; most > 0 && c.size > 0 && !e.Unlimited && int(l.clients[*c]) >= most {
		return line.TooMany
	}
	if most := l.set.MaxWaiting; most > 0 && l.order.total.live() >= most && !toDoor && !e.Front {
		return line.Full
	}
	return line.Admitted
}

// gapFor is where a newcomer would stand: behind everybody, save for a head
// start or a right to the front.
func (l *Line) gapFor(e *line.Entry) gap {
	switch {
	case e.NoPlace:
	case e.Front:
		run, _ := l.order.promotedRun(0)
		return l.order.gapAt(run + 1)
	case e.Rank > 0 && l.set.RankLead > 0:
		return l.order.gapByKey(int64(l.number) - int64(l.lead(e.Rank)))
	}
	return l.order.end()
}

// join gives a newcomer, with those ahead of it, its place.
func (l *Line) join(n instant, i int32, g gap, ahead *counts, o outlook, p time.Duration, toDoor bool) line.Decision {
	t := l.slab.at(i)
	state := line.StateWaiting
	d := line.Decision{Verdict: line.Waiting}
	if toDoor {
		l.order.insert(g, i, door)
		d = l.stand(n, i, o, false, true)
		state = line.StateDoor
		t.asked = millis(p)
	} else {
		l.order.insert(g, i, fresh)
		l.await(n, i, t, l.order.find(i), fresh, p)
	}
	l.put(i)
	d.Place = l.place(i, ahead, o, state)
	d.Place.Fresh, d.Place.SinceSeen = true, -1
	return d
}
