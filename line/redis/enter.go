package redisline

import (
	"context"
	"strconv"
	"time"

	"github.com/andreimerlescu/concert/line"
)

// Enter judges a page request. The error says why Redis could not be asked;
// with a policy other than failing, there is none.
func (l *Line) Enter(ctx context.Context, now time.Time, e line.Entry) (line.Decision, error) {
	if d, ok := l.quickly(now, &e); ok {
		return d, nil
	}
	for range 3 { // an outage may begin or end meanwhile
		if !l.isDown() {
			if d, ok := l.ask(ctx, now, e); ok {
				return d, nil
			}
		}
		if d, ok := l.enterAlone(now, &e); ok {
			return d, nil
		}
	}
	return line.Decision{Verdict: line.Busy}, nil
}

// ask has Redis judge a page request; ok is false when it did not answer.
func (l *Line) ask(ctx context.Context, now time.Time, e line.Entry) (d line.Decision, ok bool) {
	l.mu.Lock()
	st := l.newStand(e.NoPlace)
	l.mu.Unlock()
	b, err := l.call(ctx, now, request{op: "enter", args: entryArgs(&e, st.id, false), surrender: true})
	if err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.stands, st.id)
		l.doubt(e.Ticket.Number, st.id)
		return line.Decision{}, false
	}
	return l.decide(now, b, st, e), true
}

// entryArgs are the arguments of enter; back says that the request was at the
// door before.
func entryArgs(e *line.Entry, id string, back bool) []string {
	flags := flagsOf(flag{'F', e.Front}, flag{'N', e.NoPlace}, flag{'U', e.Unlimited}, flag{'H', e.MayHold}, flag{'B', back})
	number, issued := ticketArgs(e.Ticket)
	return []string{number, issued, clientArg(e.Client), strconv.Itoa(int(e.Rank)), flags, id}
}

// decide reads the answer to Enter. st was prepared for it.
func (l *Line) decide(now time.Time, b body, st *stand, e line.Entry) line.Decision {
	l.mu.Lock()
	defer l.mu.Unlock()
	if b.verdict() == "DOOR" {
		st.ticket, st.entry, st.armed, st.known = b[2], e, true, true
		st.number, _ = strconv.ParseUint(st.ticket, 10, 64)
		d := line.Decision{Verdict: line.AtDoor, Door: st, Until: now.Add(time.Duration(b.num(1)))}
		if len(b) > 3 {
			d.Place = l.readPlace(b[3:])
			st.place, st.entry.Ticket = d.Place, d.Place.Ticket
		}
		return d
	}
	delete(l.stands, st.id)
	switch b.verdict() {
	case "ADMITTED":
		ticket := uint64(0)
		if len(b) > 1 {
			ticket, _ = strconv.ParseUint(b[1], 10, 64)
		}
		return l.admitted(now, ticket)
	case "WAITING":
		return line.Decision{Verdict: line.Waiting, Place: l.readPlace(b[1:])}
	case "FULL":
		return line.Decision{Verdict: line.Full}
	case "TOOMANY":
		return line.Decision{Verdict: line.TooMany}
	case "SHUT":
		return line.Decision{Verdict: line.Shut}
	}
	return line.Decision{Verdict: line.Busy}
}

// admitted uses a slot that Redis has given. Called with mu held.
func (l *Line) admitted(now time.Time, ticket uint64) line.Decision {
	l.share.lease++
	return line.Decision{Verdict: line.Admitted, Slot: l.share.take(now, ticket)}
}

// unwanted takes in a slot that Redis has given to somebody who is gone. It goes
// back with the next call. Called with mu held.
func (l *Line) unwanted(now time.Time) {
	s := &l.share
	s.lease++
	s.ends++
	s.moments += l.moment(now)
	s.busy = true
	l.nudge(now)
}

const placeFields = 8

// readPlace reads what F.addPlace of the script wrote. Called with mu held.
func (l *Line) readPlace(b body) line.Place {
	number, _ := strconv.ParseUint(b[0], 10, 64)
	l.highest = max(l.highest, number)
	position := int(b.num(3))
	flags := b.num(7)
	return line.Place{
		Ticket:    line.Ticket{Number: number, Issued: time.UnixMilli(b.num(1))},
		State:     line.State(b.num(2)),
		Position:  position,
		Ahead:     position - 1,
		ETA:       time.Duration(b.num(4)),
		PollAfter: time.Duration(b.num(5)) * time.Millisecond,
		SinceSeen: time.Duration(b.num(6)),
		Promoted:  flags&1 != 0,
		Fresh:     flags&2 != 0,
	}
}

// Release gives a slot back. While nobody waits this instance keeps it for the
// next visitor; otherwise Redis gives it to whoever is first.
func (l *Line) Release(now time.Time, slot line.Slot) {
	l.mu.Lock()
	s := &l.share
	held, ok := s.give(slot, now)
	if !ok {
		l.mu.Unlock()
		return
	}
	s.ends++
	s.held += held
	s.moments += l.moment(now)
	busy := s.busy && !l.outage.down
	if l.outage.down {
		l.serveAlone(now)
	}
	l.mu.Unlock()
	if busy {
		// What Redis cannot be told now, it learns when it is back.
		_, _ = l.call(context.Background(), now, request{op: "release", surrender: true})
	}
}

// Poll answers a visitor who asks after their place.
func (l *Line) Poll(ctx context.Context, now time.Time, t line.Ticket) (line.Status, error) {
	if l.isDown() {
		return l.pollAlone(now, t), nil
	}
	number, issued := ticketArgs(t)
	b, err := l.call(ctx, now, request{op: "poll", args: []string{number, issued}, surrender: true})
	if err != nil {
		return l.pollAlone(now, t), nil
	}
	switch b.verdict() {
	case "READY", "WAIT":
		l.mu.Lock()
		defer l.mu.Unlock()
		return line.Status{Known: true, Ready: b.verdict() == "READY", Place: l.readPlace(b[1:])}, nil
	}
	return line.Status{}, nil
}
