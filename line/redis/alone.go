package redisline

import (
	"cmp"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/andreimerlescu/concert/line"
)

// This file is the line of one instance while Redis is away. Tickets are let in
// as the line would have moved: its pace and its marks are known, so that a
// number's turn is, and not whoever asks first. Numbers given meanwhile are
// microseconds since 1970, above all others, and stand in the order of time
// whichever instance gave them.

const (
	alonePoll    = 2 * time.Second
	aloneLongest = 15 * time.Second
	// numberStep leaves room for each instance within the numbers of a moment.
	numberStep = 1024
	// pollsPerSecond is how often the whole line asks, near its front. The script
	// has the same.
	pollsPerSecond = 500
)

func inLineOrder(a, b *stand) int { return cmp.Compare(a.number, b.number) }

// allowance is how many slots the instance may use by itself. Called with mu
// held, as is every function of this file but Enter's and Poll's.
func (l *Line) allowance(now time.Time) int {
	switch {
	case l.set.Mode != line.Open:
		return 0
	case l.opt.Down == Open:
		return l.share.used + 1
	case l.opt.Down == Share && l.mayClaim(now):
		return l.share.lease
	}
	return 0
}

// moved is how many places the line has moved at a time.
func (o *outage) moved(at time.Time) float64 {
	return o.pace*max(0, at.Sub(o.of).Seconds()) + o.extra
}

// due reports whether a number's turn has come at a time.
func (l *Line) due(number uint64, at time.Time) bool {
	return l.opt.Down == Open || l.outage.aheadOf(number) <= l.outage.moved(at)
}

// serveAlone lets in those at the door, in line order, whose turn it is. When
// slots stay free, the line moves on faster: somebody has left it.
func (l *Line) serveAlone(now time.Time) {
	o := &l.outage
	if l.opt.Down == Share && !l.mayClaim(now) {
		l.strandAll()
	}
	for l.share.used < l.allowance(now) {
		first := l.firstAtDoor()
		if first == nil || !l.due(first.number, now) {
			break
		}
		first.conclude(l.admitAlone(now, first.number))
		l.spendTwins(first)
	}
	if free := l.allowance(now) - l.share.used; free > 0 {
		instances := max(1, len(l.latest.alive))
		o.extra += float64(free*instances) * max(0, now.Sub(o.ticked).Seconds())
	}
	o.ticked = now
}

func (l *Line) firstAtDoor() (first *stand) {
	for _, st := range l.stands {
		if st.armed && (first == nil || st.number < first.number) {
			first = st
		}
	}
	return first
}

// spendTwins ends the other requests with the same ticket.
func (l *Line) spendTwins(used *stand) {
	for _, st := range l.stands {
		if st.armed && st.number == used.number {
			st.conclude(line.Decision{Verdict: line.Spent})
		}
	}
}

func (l *Line) admitAlone(now time.Time, number uint64) line.Decision {
	l.outage.admitted++
	if number != 0 {
		l.outage.spent[number] = false
	}
	l.share.grants++
	l.share.moments -= l.moment(now)
	return line.Decision{Verdict: line.Admitted, Slot: l.share.take(now, number)}
}

// enterAlone judges a page request; ok is false when Redis is back.
func (l *Line) enterAlone(now time.Time, e *line.Entry) (d line.Decision, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.outage.down {
		return line.Decision{}, false
	}
	return l.judgeAlone(now, e), true
}

func (l *Line) judgeAlone(now time.Time, e *line.Entry) line.Decision {
	number := e.Ticket.Number
	if _, used := l.outage.spent[number]; used {
		number, e.Ticket = 0, line.Ticket{}
	}
	fresh := number == 0
	if fresh && l.set.Mode == line.Closed {
		return line.Decision{Verdict: line.Shut}
	}
	if fresh {
		number = l.newNumber(now)
	}
	l.serveAlone(now)
	first := l.firstAtDoor()
	if l.share.used < l.allowance(now) && l.due(number, now) && (first == nil || number <= first.number) {
		if fresh {
			number = 0 // nobody was told of it
		}
		return l.admitAlone(now, number)
	}
	if fresh && !e.NoPlace {
		if most := l.set.MaxWaiting; most > 0 && l.latest.stats.Live >= most {
			return line.Decision{Verdict: line.Full}
		}
		e.Ticket = line.Ticket{Number: number, Issued: now.Truncate(time.Millisecond)}
		l.highest = max(l.highest, number)
	}
	p := l.placeAlone(now, e.Ticket, fresh)
	if e.MayHold && l.holdsAlone(now, number, e.NoPlace) {
		return l.standAlone(now, e, number, p)
	}
	if e.NoPlace {
		return line.Decision{Verdict: line.Busy}
	}
	return line.Decision{Verdict: line.Waiting, Place: p}
}

func (l *Line) standAlone(now time.Time, e *line.Entry, number uint64, p line.Place) line.Decision {
	st := l.newStand(e.NoPlace)
	st.entry, st.number, st.ticket, st.armed = *e, number, strconv.FormatUint(number, 10), true
	p.State = line.StateDoor
	st.place = p
	return line.Decision{Verdict: line.AtDoor, Door: st, Place: p, Until: l.holdUntil(now)}
}

// newNumber gives out a number that no other instance gives.
func (l *Line) newNumber(now time.Time) uint64 {
	mine := uint64(0)
	for _, i := range l.latest.alive {
		if i.Name < l.me {
			mine++
		}
	}
	n := max(uint64(now.UnixMicro()), l.outage.issued+numberStep, l.highest+numberStep)
	l.outage.issued = n/numberStep*numberStep + mine%numberStep
	return l.outage.issued
}

// placeAlone describes a ticket by what is known.
func (l *Line) placeAlone(now time.Time, t line.Ticket, fresh bool) line.Place {
	o := &l.outage
	left := max(0, o.aheadOf(t.Number)-o.moved(now))
	p := line.Place{Ticket: t, Fresh: fresh, Ahead: int(left), Position: int(left) + 1, ETA: -1, SinceSeen: -1}
	ask := alonePoll
	if o.pace > 0 {
		turn := time.Duration(left/o.pace*float64(time.Second)) - l.detourNow()
		crowd := time.Duration(l.latest.stats.Live) * time.Second / pollsPerSecond
		ask = min(max(time.Second, min(turn*6/10, crowd)), aloneLongest)
	}
	p.PollAfter = (ask + rand.N(ask/5+1)).Truncate(time.Millisecond)
	return p
}

// pollAlone answers a visitor who asks after their place.
func (l *Line) pollAlone(now time.Time, t line.Ticket) line.Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, used := l.outage.spent[t.Number]; used || t.IsZero() {
		return line.Status{}
	}
	p := l.placeAlone(now, t, false)
	st := line.Status{Known: true, Place: p}
	if l.allowance(now) > 0 && len(l.stands) < l.set.DoorMax && l.due(t.Number, now.Add(time.Second)) || l.sendsOn(now, t.Number) {
		st.Ready, st.Place.State = true, line.StateCalled
	}
	return st
}
