package memory

import (
	"time"

	"github.com/andreimerlescu/concert/line"
)

// stand is a request at the door. Its fields but line and done are guarded by
// line.mu until done is closed, after which outcome stands.
type stand struct {
	line    *Line
	done    chan struct{}
	next    *stand // an older request with the same ticket
	ticket  int32  // slab index, while over is false
	over    bool
	noPlace bool
	fresh   bool // its ticket was issued for it and is not known to anybody
	outcome line.Decision
}

// stand puts a request with ticket i, which is in line, at the door.
func (l *Line) stand(n instant, i int32, o outlook, noPlace, fresh bool) line.Decision {
	s := &stand{line: l, done: make(chan struct{}), ticket: i, noPlace: noPlace, fresh: fresh}
	s.next = l.stands[i]
	l.stands[i] = s
	l.atDoor++
	t := l.slab.at(i)
	t.flags &^= flagCalled
	l.wheel.unlink(i)
	if !t.has(flagGuest) {
		l.order.set(l.order.find(i), door)
	}
	wait := l.set.DoorWait + min(o.turn, maxHorizon)
	return line.Decision{Verdict: line.AtDoor, Door: s, Until: l.time(n.add(wait))}
}

// standGuest puts a request at the door that has no place, behind everybody.
func (l *Line) standGuest(n instant, o outlook) line.Decision {
	i := l.slab.alloc()
	l.slab.at(i).flags = flagGuest
	l.order.push(i, guest)
	return l.stand(n, i, o, true, false)
}

// settle lets in whoever is at the door, in line order, as far as slots are
// free and not kept for somebody ahead who is away.
func (l *Line) settle(n instant) {
	for l.order.total.standing() > 0 {
		free := l.free(n)
		if free <= 0 {
			break
		}
		i := l.order.firstStanding()
		if ahead := l.order.before(l.order.find(i)); ahead.claims() >= free {
			if int(ahead[awaited]) >= free || !l.keptEnough(n) {
				return
			}
			l.pass(i)
		}
		l.grant(n, i)
	}
	if l.keeping && (l.free(n) <= 0 || l.order.total.claims() == 0) {
		l.keeping = false
	}
}

// keptEnough reports whether free slots have been kept for those ahead of
// somebody who came for as long as is fair, and starts the clock if it does
// not run.
func (l *Line) keptEnough(n instant) bool {
	if !l.keeping {
		l.keeping, l.keptUntil = true, n.add(l.keepTime(n))
	}
	return n >= l.keptUntil
}

// pass takes the claims of those ahead of i, so that it can be let in.
func (l *Line) pass(i int32) { l.tally.passed += uint64(l.order.passAhead(i)) }

// grant lets in the request that stands at the door with ticket i. Of several
// it is the newest, as the older ones were abandoned by a reload; they learn
// that the ticket is spent.
func (l *Line) grant(n instant, i int32) {
	s := l.stands[i]
	l.clearStands(i)
	l.drop(i, line.EndedAdmitted)
	s.conclude(l.admit(n))
	l.spend(s.next)
}

// clearStands takes all requests with ticket i away from the door.
func (l *Line) clearStands(i int32) {
	for s := l.stands[i]; s != nil; s = s.next {
		l.atDoor--
	}
	delete(l.stands, i)
}

// spend tells these requests that their ticket is gone.
func (l *Line) spend(s *stand) {
	for ; s != nil; s = s.next {
		s.conclude(line.Decision{Verdict: line.Spent})
	}
}

func (s *stand) conclude(d line.Decision) {
	s.over, s.outcome = true, d
	close(s.done)
}

// Done is closed once the outcome stands.
func (s *stand) Done() <-chan struct{} { return s.done }

// Outcome is valid after Done.
func (s *stand) Outcome() line.Decision { return s.outcome }

// Leave gives up, unless the outcome stands already.
func (s *stand) Leave(now time.Time, gone bool) line.Decision {
	l := s.line
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.begin(now)
	if s.over {
		return s.outcome
	}
	d := l.leave(n, s, gone)
	s.conclude(d)
	l.finish(n)
	return d
}

func (l *Line) leave(n instant, s *stand, gone bool) line.Decision {
	i := s.ticket
	last := l.unlinkStand(s)
	if !gone {
		l.tally.timeouts++
	}
	t := l.slab.at(i)
	switch {
	case t.has(flagGuest):
		l.drop(i, line.EndedExpired)
		return line.Decision{Verdict: line.Busy}
	case last && gone && s.fresh && !t.has(flagPolled):
		l.evict(i)
		return line.Decision{Verdict: line.Busy}
	}
	at := l.order.find(i)
	ahead, k := l.order.before(at), at.class()
	o := l.outlook(n, &ahead)
	if last {
		k = polled
		if !t.has(flagPolled) {
			k = fresh
		}
		t.seen = n
		l.await(n, i, t, at, k, l.pollAfter(o, k == fresh))
	}
	if s.noPlace {
		return line.Decision{Verdict: line.Busy}
	}
	d := line.Decision{Verdict: line.Waiting, Place: l.place(i, &ahead, o, stateOf(k))}
	d.Place.Fresh = s.fresh
	return d
}

// unlinkStand takes one request away from the door and reports whether it was
// the last with its ticket.
func (l *Line) unlinkStand(s *stand) (last bool) {
	l.atDoor--
	if head := l.stands[s.ticket]; head != s {
		for head.next != s {
			head = head.next
		}
		head.next = s.next
		return false
	}
	if s.next != nil {
		l.stands[s.ticket] = s.next
		return false
	}
	delete(l.stands, s.ticket)
	return true
}
