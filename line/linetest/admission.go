package linetest

import (
	"testing"
	"time"

	"github.com/andreimerlescu/concert/line"
)

// testCap holds invariant 1 for every line.
func testCap(t *testing.T, newLine New) {
	r := open(t, newLine, settings(3))
	r.fill(3)
	r.wantInFlight(3)
	r.wantEnter(unheld(1), line.Waiting)
	r.wantEnter(page(2), line.AtDoor)
	r.pass(time.Minute)
	if got := r.l.Stats(r.now).InFlight; got > 3 {
		t.Fatalf("invariant 1: %d slots out of 3", got)
	}
	r.wantInFlight(3)
}

// testReleaseOnce is the line's part of invariant 5.
func testReleaseOnce(t *testing.T, newLine New) {
	r := open(t, newLine, settings(2))
	all := r.fill(2)
	r.l.Release(r.now, all[0])
	r.l.Release(r.now, all[0])
	r.l.Release(r.now, 0)
	r.wantInFlight(1)
	again := r.wantEnter(page(1), line.Admitted)
	r.l.Release(r.now, all[0]) // stale: its place is taken by another
	r.wantInFlight(2)
	r.l.Release(r.now, again.Slot)
	r.l.Release(r.now, all[1])
	r.wantInFlight(0)
}

func testResize(t *testing.T, newLine New) {
	r := open(t, newLine, settings(4))
	slots := r.fill(4)
	doors := make([]line.Decision, 6)
	for k := range doors {
		doors[k] = r.wantEnter(page(k), line.AtDoor)
	}
	r.configure(func(s *line.Settings) { s.Policy.Cap = 1 })
	for _, s := range slots[:3] {
		r.l.Release(r.now, s)
		r.wantNoGrant(doors[0])
	}
	r.wantInFlight(1)
	r.configure(func(s *line.Settings) { s.Policy.Cap = 5 })
	r.wantInFlight(5) // at once, without anybody asking
	for k := range doors {
		if k < 4 {
			r.wantGrant(doors[k], line.Admitted)
		} else {
			r.wantNoGrant(doors[k])
		}
	}
	r.configure(func(s *line.Settings) { s.Policy.Cap = 0 })
	r.wantInFlight(7)
	r.wantEnter(page(100), line.Admitted)
}

func testRate(t *testing.T, newLine New) {
	s := settings(0)
	s.Policy = line.Policy{Inflow: 7, Interval: time.Second, Burst: 3}
	r := open(t, newLine, s)
	r.pass(time.Hour) // nothing is saved up beyond a burst
	r.fill(3)
	var doors []line.Decision
	for k := range 200 {
		if d := r.enter(page(k)); d.Verdict == line.AtDoor {
			doors = append(doors, d)
		}
	}
	if len(doors) < 20 {
		t.Fatalf("%d at the door, want those whose turn is within %v", len(doors), s.DoorWait)
	}
	in := func() (n int) {
		for _, d := range doors {
			if _, ok := granted(d); ok {
				n++
			}
		}
		return n
	}
	r.pass(2 * time.Second)
	if got := in(); got != 14 {
		t.Fatalf("%d let in within 2 s, want 14", got)
	}
	r.configure(func(s *line.Settings) { s.Mode = line.Paused })
	r.pass(10 * time.Second)
	if got := in(); got != 14 {
		t.Fatalf("%d let in while paused, want none", got-14)
	}
	r.configure(func(s *line.Settings) { s.Mode = line.Open })
	r.configure(func(s *line.Settings) { s.Policy.Inflow = 1 })
	if got := in(); got != 17 {
		t.Fatalf("%d let in after the pause, want a burst of 3", got-14)
	}
	r.pass(3*time.Second - time.Nanosecond)
	if got := in(); got != 19 {
		t.Fatalf("%d let in within 3 s at the lower rate, want 2", got-17)
	}
	r.pass(time.Nanosecond)
	if got := in(); got != 20 {
		t.Fatalf("%d let in after 3 s at the lower rate, want 3", got-17)
	}
}

func testModes(t *testing.T, newLine New) {
	s := settings(2)
	s.Mode = line.Paused
	r := open(t, newLine, s)
	first := r.wantEnter(page(1), line.Waiting).Place
	if first.ETA >= 0 {
		t.Errorf("ETA %v while paused, want a negative one", first.ETA)
	}
	r.pass(time.Second)
	if st := r.poll(first.Ticket); st.Ready || !st.Known {
		t.Fatalf("while paused a poll says %+v", st)
	}
	r.configure(func(s *line.Settings) { s.Mode = line.Closed })
	r.wantEnter(page(2), line.Shut)
	r.wantEnter(back(first.Ticket, 1), line.Waiting)
	r.pass(time.Second)
	r.configure(func(s *line.Settings) { s.Mode = line.Open })
	if st := r.poll(first.Ticket); !st.Ready {
		t.Fatalf("open again, a poll says %+v", st)
	}
	r.wantEnter(back(first.Ticket, 1), line.Admitted)
}

func testOnce(t *testing.T, newLine New) {
	r := open(t, newLine, settings(1))
	slot := r.fill(1)[0]
	all := r.queue(2)
	r.pass(time.Second)
	r.l.Release(r.now, slot)
	if st := r.poll(all[0]); !st.Ready {
		t.Fatalf("with a free slot, the first is told %+v", st)
	}
	r.wantEnter(back(all[0], 0), line.Admitted)
	if st := r.poll(all[0]); st.Known {
		t.Fatalf("after it was used, a ticket is told %+v", st)
	}
	e := unheld(0)
	e.Ticket = all[0]
	d := r.wantEnter(e, line.Waiting)
	if !d.Place.Fresh || d.Place.Position != 2 || d.Place.Ticket == all[0] {
		t.Fatalf("a used ticket gets %+v, want a new place at the end", d.Place)
	}
	r.wantInFlight(1)
}

func testNoPlace(t *testing.T, newLine New) {
	r := open(t, newLine, settings(1))
	glance := line.Entry{Client: client(1), NoPlace: true}
	form := line.Entry{Client: client(2), NoPlace: true, MayHold: true}
	d := r.wantEnter(glance, line.Admitted)
	r.wantEnter(glance, line.Busy)
	f := r.wantEnter(form, line.AtDoor)
	if n := r.l.Stats(r.now).Live; n != 0 {
		t.Fatalf("%d places given, want none", n)
	}
	later := r.wantEnter(page(3), line.AtDoor)
	if p := later.Place.Position; p != 1 {
		t.Fatalf("position %d behind a form, which has no place; want 1", p)
	}
	r.l.Release(r.now, d.Slot)
	slot := r.wantGrant(f, line.Admitted).Slot // it came first
	r.wantNoGrant(later)
	if got := r.wantEnter(form, line.AtDoor).Door.Leave(r.now, false); got.Verdict != line.Busy {
		t.Fatalf("a form that outlasts the door gets %v, want Busy", got.Verdict)
	}
	later.Door.Leave(r.now, false)
	r.l.Release(r.now, slot)
	r.wantEnter(glance, line.Busy) // somebody waits, though a slot is free
	held := glance
	held.Ticket = later.Place.Ticket
	r.wantEnter(held, line.Busy) // and a prefetch does not use the page's ticket
	if !r.look(later.Place.Ticket).Known {
		t.Fatal("a prefetch used up a ticket")
	}
}

func testLimits(t *testing.T, newLine New) {
	s := settings(1)
	s.MaxWaiting, s.PerClient = 3, 2
	r := open(t, newLine, s)
	r.fill(1)
	all := r.queue(2)
	r.wantEnter(unheld(1), line.Waiting)
	r.wantEnter(unheld(1), line.TooMany)
	r.wantEnter(unheld(3), line.Full)
	e := unheld(0)
	e.Ticket = all[0]
	r.wantEnter(e, line.Waiting) // who has a place is never refused
	if got := r.l.Stats(r.now).RefusedTotal; got != 2 {
		t.Errorf("%d refused, want 2", got)
	}
	r.configure(func(s *line.Settings) { s.MaxWaiting = 0 })
	r.wantEnter(unheld(3), line.Waiting)
	// For whom the door suffices a short line is no reason to be refused.
	s = settings(100)
	s.MaxWaiting = 1
	r = open(t, newLine, s)
	r.fill(100)
	for k := range 5 {
		r.wantEnter(page(k), line.AtDoor)
	}
}
