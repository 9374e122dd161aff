package linetest

import (
	"testing"
	"time"

	"github.com/andreimerlescu/concert/line"
)

// server lets a queue in one after another, each step when the oldest slot
// comes back.
type server struct {
	*room
	slots []line.Slot
	queue []line.Ticket // who waits, in order
}

// serve lets n in, 50 ms apart, while those behind ask after their place.
func (s *server) serve(n int) {
	s.t.Helper()
	for k := range n {
		s.pass(50 * time.Millisecond)
		if k%20 == 0 {
			s.ask()
		}
		d := s.enter(back(s.queue[0], 0))
		s.l.Release(s.now, s.slots[0])
		if d.Verdict == line.AtDoor {
			d = s.wantGrant(d, line.Admitted)
		}
		if d.Verdict != line.Admitted {
			s.t.Fatalf("the first in line gets %v when a slot comes back", d.Verdict)
		}
		s.slots, s.queue = append(s.slots[1:], d.Slot), s.queue[1:]
	}
}

// ask has everybody who waits ask after their place.
func (s *server) ask() {
	s.t.Helper()
	for _, k := range s.queue {
		s.poll(k)
	}
}

// stall passes time in which no slot comes back, and everybody goes on asking.
func (s *server) stall(d time.Duration) {
	s.t.Helper()
	for ; d > 0; d -= 5 * time.Second {
		s.pass(5 * time.Second)
		s.ask()
	}
}

// wantETA has the visitor at a position be told a wait between low and high.
func (s *server) wantETA(when string, position int, low, high time.Duration) {
	s.t.Helper()
	p := s.poll(s.queue[position-1]).Place
	if p.Position != position || p.ETA < low || p.ETA > high {
		s.t.Errorf("%s, position %d is told a wait of %v, want position %d and %v to %v", when, p.Position, p.ETA, position, low, high)
	}
}

// testStall has the site hang: the wait that is told grows by about as long as
// it hangs, cannot be told when it hangs for long, and is the old one soon
// after.
func testStall(t *testing.T, newLine New) {
	r := open(t, newLine, settings(4))
	s := &server{room: r, slots: r.fill(4), queue: r.queue(200)}
	s.serve(100) // 20 a second
	s.wantETA("at a steady pace", 100, 4*time.Second, 7*time.Second)
	s.stall(time.Minute)
	s.wantETA("after a minute's stall", 1, 30*time.Second, 90*time.Second)
	s.wantETA("after a minute's stall", 100, 30*time.Second, 100*time.Second)
	s.stall(10 * time.Minute)
	s.wantETA("after ten minutes' stall", 1, -1, -1)
	s.wantETA("after ten minutes' stall", 100, -1, -1)
	s.serve(60)
	s.wantETA("soon after a stall", 40, time.Second, 8*time.Second)
}
