package redisline

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/andreimerlescu/concert/line"
)

// stand is a request at the door. Its fields but line, id and done are guarded
// by Line.mu until done is closed, after which outcome stands.
type stand struct {
	line    *Line
	id      string
	done    chan struct{}
	over    bool
	armed   bool // Redis, or the outage, has it stand at the door
	known   bool // Redis has it stand there, or is asked to
	noPlace bool
	entry   line.Entry // to ask again with, with the ticket it has
	number  uint64     // of its ticket, or of what stands in for one
	ticket  string     // the same, for the script
	place   line.Place
	outcome line.Decision

	asking sync.Mutex // guards what Redis is asked of the stand; taken before Line.mu
}

// newStand prepares a stand before Redis is asked, so that mail for it that
// comes before the answer is not lost. Called with mu held.
func (l *Line) newStand(noPlace bool) *stand {
	l.lastID++
	st := &stand{line: l, id: strconv.FormatUint(l.lastID, 36), done: make(chan struct{}), noPlace: noPlace}
	l.stands[st.id] = st
	return st
}

// conclude has the outcome stand. Called with Line.mu held.
func (st *stand) conclude(d line.Decision) {
	if st.over {
		return
	}
	st.over, st.outcome = true, d
	delete(st.line.stands, st.id)
	close(st.done)
}

// strand concludes a stand that Redis knows nothing of any more: its owner is
// to wait with the place there was. Called with Line.mu held.
func (st *stand) strand() { st.conclude(st.waiting()) }

func (st *stand) waiting() line.Decision {
	if st.noPlace || st.place.Ticket.IsZero() {
		return line.Decision{Verdict: line.Busy}
	}
	return line.Decision{Verdict: line.Waiting, Place: st.place}
}

// Done is closed once the outcome stands.
func (st *stand) Done() <-chan struct{} { return st.done }

// Outcome is valid after Done.
func (st *stand) Outcome() line.Decision { return st.outcome }

// Leave gives up, unless the outcome stands already.
func (st *stand) Leave(now time.Time, gone bool) line.Decision {
	l := st.line
	st.asking.Lock()
	defer st.asking.Unlock()
	l.mu.Lock()
	if st.over {
		defer l.mu.Unlock()
		return st.outcome
	}
	l.mu.Unlock()
	flag := "0"
	if gone {
		flag = "1"
	}
	var b body
	err := errDown
	if !l.isDown() {
		b, err = l.call(context.Background(), now, request{op: "leave", args: []string{st.ticket, st.id, flag}, surrender: true})
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	st.left(b, err)
	return st.outcome
}

// left concludes a stand that was given up, by what Redis answered. Called with
// Line.mu held.
func (st *stand) left(b body, err error) {
	l := st.line
	switch {
	case st.over: // the mail was faster
	case err != nil:
		if st.known {
			l.doubt(st.number, st.id)
		}
		st.strand()
	case b.verdict() == "OVER": // neither is there any mail
		st.strand()
	case b.verdict() == "WAITING":
		st.conclude(line.Decision{Verdict: line.Waiting, Place: l.readPlace(b[1:])})
	default:
		st.conclude(line.Decision{Verdict: line.Busy})
	}
}
