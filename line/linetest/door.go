package linetest

import (
	"testing"
	"time"

	"github.com/andreimerlescu/concert/line"
)

// testDoorOrder holds invariant 2 at the door.
func testDoorOrder(t *testing.T, newLine New) {
	r := open(t, newLine, settings(2))
	slots := r.fill(2)
	waiting := r.wantEnter(unheld(0), line.Waiting).Place
	var doors []line.Decision
	for k := range 4 {
		doors = append(doors, r.wantEnter(page(k+1), line.AtDoor))
	}
	// Whoever comes back stands ahead of those who were given places later.
	first := r.wantEnter(back(waiting.Ticket, 0), line.AtDoor)
	if first.Place.Position != 1 || first.Place.State != line.StateDoor {
		t.Fatalf("the first stands at %+v", first.Place)
	}
	for _, d := range append([]line.Decision{first}, doors...) {
		r.wantNoGrant(d)
		r.l.Release(r.now, slots[0])
		slots = append(slots[1:], r.wantGrant(d, line.Admitted).Slot)
		r.wantInFlight(2)
	}
	if n := r.l.Stats(r.now).AtDoor; n != 0 {
		t.Fatalf("%d at the door, want none", n)
	}
}

func testDoorLeave(t *testing.T, newLine New) {
	r := open(t, newLine, settings(1))
	slot := r.fill(1)[0]
	kept := r.wantEnter(page(1), line.AtDoor)
	gone := r.wantEnter(page(2), line.AtDoor)
	last := r.wantEnter(page(3), line.AtDoor)
	if d := gone.Door.Leave(r.now, true); d.Verdict == line.Admitted {
		t.Fatal("let in while the only slot is out")
	}
	if r.look(gone.Place.Ticket).Known {
		t.Fatal("a place remains that its owner was never told of")
	}
	if wait := kept.Until.Sub(r.now); wait < r.set.DoorWait || wait > r.set.DoorWait+time.Minute {
		t.Errorf("held for %v, want about %v", wait, r.set.DoorWait)
	}
	d := kept.Door.Leave(r.now, false)
	if d.Verdict != line.Waiting || d.Place.Ticket.Number != kept.Place.Ticket.Number || d.Place.Position != 1 {
		t.Fatalf("who outlasts the door gets %v, %+v", d.Verdict, d.Place)
	}
	if got := r.l.Stats(r.now).TimeoutsTotal; got != 1 {
		t.Errorf("%d outlasted the door, want 1", got)
	}
	// The grant came first: the slot is the caller's to give back.
	again := r.wantEnter(back(kept.Place.Ticket, 1), line.AtDoor)
	r.l.Release(r.now, slot)
	if d := again.Door.Leave(r.now, true); d.Verdict != line.Admitted {
		t.Fatalf("Leave after the grant says %v, want Admitted", d.Verdict)
	} else {
		r.l.Release(r.now, d.Slot)
	}
	r.wantGrant(last, line.Admitted)
	r.wantInFlight(1)
}

func testDoorShared(t *testing.T, newLine New) {
	r := open(t, newLine, settings(1))
	slot := r.fill(1)[0]
	ticket := r.queue(1)[0]
	r.pass(time.Second)
	tabs := []line.Decision{
		r.wantEnter(back(ticket, 0), line.AtDoor),
		r.wantEnter(back(ticket, 0), line.AtDoor),
		r.wantEnter(back(ticket, 0), line.AtDoor),
	}
	next := r.wantEnter(page(1), line.AtDoor)
	if d := tabs[0].Door.Leave(r.now, true); d.Verdict != line.Waiting {
		t.Fatalf("one of three tabs leaves: %v, want Waiting", d.Verdict)
	}
	if p := r.look(ticket).Place; p.Position != 1 || p.State != line.StateDoor {
		t.Fatalf("with two tabs at the door, the place is %+v", p)
	}
	r.l.Release(r.now, slot)
	in, spent := 0, 0
	for _, d := range tabs[1:] {
		switch got, _ := granted(d); got.Verdict {
		case line.Admitted:
			in++
			slot = got.Slot
		case line.Spent:
			spent++
		}
	}
	if in != 1 || spent != 1 {
		t.Fatalf("%d tabs let in, %d told that the ticket is spent; want 1 and 1", in, spent)
	}
	r.wantNoGrant(next)
	r.l.Release(r.now, slot)
	r.wantGrant(next, line.Admitted)
}

// testPlaces holds invariant 4 against everything but a crash.
func testPlaces(t *testing.T, newLine New) {
	r := open(t, newLine, settings(1))
	r.fill(1)
	all := r.queue(5)
	r.wantOrder(all...)
	for range 20 { // reloads change nothing, for nobody
		r.pass(500 * time.Millisecond)
		e := unheld(2)
		e.Ticket = all[2]
		d := r.wantEnter(e, line.Waiting)
		if d.Place.Fresh || d.Place.Position != 3 {
			t.Fatalf("a reload gets %+v, want position 3", d.Place)
		}
		r.wantOrder(all...)
	}
	seen := map[uint64]bool{}
	for k, ticket := range all {
		r.pass(time.Second)
		st := r.poll(ticket)
		p := st.Place
		if seen[p.Ticket.Number] || p.Position != k+1 {
			t.Fatalf("visitor %d is at %d, ticket %d", k, p.Position, p.Ticket.Number)
		}
		seen[p.Ticket.Number] = true
		if !st.Ready && (p.PollAfter < 500*time.Millisecond || p.PollAfter > r.set.TTL/2) {
			t.Fatalf("visitor %d is to ask again after %v", k, p.PollAfter)
		}
		if p.SinceSeen < 0 || p.Ticket.Issued.UnixMilli() != ticket.Issued.UnixMilli() {
			t.Fatalf("visitor %d: %+v", k, p)
		}
	}
	r.must(r.l.Quit(t.Context(), r.now, all[1]))
	r.must(r.l.Quit(t.Context(), r.now, all[1])) // twice is no error
	r.wantOrder(all[0], all[2], all[3], all[4])
}

func testAbsent(t *testing.T, newLine New) {
	r := open(t, newLine, settings(1))
	slot := r.fill(1)[0]
	all := r.queue(2)
	r.l.Release(r.now, slot)
	r.pass(2 * time.Minute) // nobody polls
	if p := r.look(all[0]).Place; p.State != line.StateAbsent || p.Position != 1 {
		t.Fatalf("after two silent minutes the first is at %+v", p)
	}
	// The one who is there goes first, at once.
	if st := r.poll(all[1]); !st.Ready || st.Place.Position != 2 {
		t.Fatalf("with a free slot, who is there is told %+v", st)
	}
	slot = r.wantEnter(back(all[1], 1), line.Admitted).Slot
	// And the other one is first again.
	later := r.wantEnter(page(5), line.AtDoor)
	d := r.wantEnter(back(all[0], 0), line.AtDoor)
	r.l.Release(r.now, slot)
	r.wantGrant(d, line.Admitted)
	r.wantNoGrant(later)
}

func testNoShow(t *testing.T, newLine New) {
	r := open(t, newLine, settings(1))
	slot := r.fill(1)[0]
	all := r.queue(2)
	r.pass(time.Second)
	r.l.Release(r.now, slot)
	if st := r.poll(all[0]); !st.Ready {
		t.Fatalf("with a free slot, the first is told %+v", st)
	}
	// It asks again and again and does not come. The next is at the door.
	d := r.enter(back(all[1], 1))
	for range 60 {
		if d.Verdict != line.AtDoor {
			break
		}
		if got, ok := granted(d); ok {
			d = got
			break
		}
		r.pass(100 * time.Millisecond)
		r.poll(all[0])
	}
	if d.Verdict != line.Admitted {
		t.Fatalf("behind a visitor who does not come: %v after 6 s, want Admitted", d.Verdict)
	}
	// Who was passed over has kept the place.
	if st := r.poll(all[0]); !st.Known || st.Place.Position != 1 {
		t.Fatalf("who was passed over is told %+v", st)
	}
	later := r.wantEnter(page(5), line.AtDoor)
	first := r.wantEnter(back(all[0], 0), line.AtDoor)
	r.l.Release(r.now, d.Slot)
	r.wantGrant(first, line.Admitted)
	r.wantNoGrant(later)
}

func testLifetimes(t *testing.T, newLine New) {
	r := open(t, newLine, settings(1))
	r.fill(1)
	all := r.queue(2)
	silent := r.wantEnter(unheld(7), line.Waiting).Place.Ticket
	r.pass(r.set.FirstPollGrace + r.set.Sweep)
	r.wantOrder(all...) // who never polled is gone
	if st := r.poll(silent); st.Known {
		t.Fatalf("past its grace a ticket is told %+v", st)
	}
	for range 10 { // who polls lives on
		r.pass(r.set.TTL / 2)
		if !r.poll(all[1]).Known {
			t.Fatal("a visitor who polls is lost")
		}
	}
	r.wantOrder(all[1])
	r.pass(r.set.TTL) // found dead, before any sweep: dropped
	if r.poll(all[1]).Known {
		t.Fatal("a ticket outlives its lifetime")
	}
	if got := r.l.Stats(r.now).EvictedTotal; got != 3 {
		t.Fatalf("%d evicted, want 3", got)
	}
	r.wantOrder()
}
