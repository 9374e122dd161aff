package linetest

import (
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/andreimerlescu/concert/line"
)

// restart restores a snapshot into a new line that starts after a downtime.
func (r *room) restart(newLine New, s line.Snapshot, down time.Duration, returning bool) *room {
	r.t.Helper()
	at := r.now.Add(down)
	n := &room{t: r.t, l: newLine(r.t, r.set, at), now: at, set: r.set}
	n.must(n.l.Restore(r.t.Context(), at, s, returning))
	return n
}

func (r *room) snapshot() line.Snapshot {
	r.t.Helper()
	s, err := r.l.Snapshot(r.t.Context(), r.now)
	r.must(err)
	return s
}

func testRestore(t *testing.T, newLine New) {
	r := open(t, newLine, settings(1))
	r.fill(1)
	q := r.queue(4)
	q = append(q, r.wantEnter(unheld(9), line.Waiting).Place.Ticket)
	r.must(r.l.Promote(t.Context(), r.now, q[2], 1))
	q[0], q[1], q[2] = q[2], q[0], q[1]
	r.wantOrder(q...)
	old := r.snapshot()

	n := r.restart(newLine, old, 5*time.Second, false)
	n.wantOrder(q...)
	again := n.snapshot()
	again.Taken, old.Taken = time.Time{}, time.Time{}
	again.Next, old.Next = 0, 0
	again.Line, old.Line, again.Sequence, old.Sequence = 0, 0, 0, 0
	// When the unpolled were last seen is moved on by the downtime.
	last := len(old.Tickets) - 1
	again.Tickets[last].LastSeen = old.Tickets[last].LastSeen
	if diff := cmp.Diff(old, again, cmpopts.EquateComparable(netip.Prefix{})); diff != "" {
		t.Fatalf("restored and saved again (-want +got):\n%s", diff)
	}
	// Those who were here a moment ago have a claim on the slot: a newcomer does
	// not walk past them, but is not kept for ever either.
	newcomer := n.wantEnter(page(19), line.AtDoor)
	n.wantNoGrant(newcomer)
	n.pass(10 * time.Second)
	n.wantGrant(newcomer, line.Admitted)
	if d := n.wantEnter(unheld(20), line.Waiting); d.Place.Ticket.Number <= q[last].Number || d.Place.Position != 6 {
		t.Fatalf("a newcomer after the restart gets %+v", d.Place)
	}
	if st := n.poll(q[1]); !st.Known || st.Place.Position != 2 {
		t.Fatalf("after the restart the second is told %+v", st)
	}
	if err := n.l.Restore(t.Context(), n.now, old, false); err == nil {
		t.Fatal("a line in use was restored over")
	}
	// Without returning, a ticket that is not in the snapshot is unknown.
	lost := line.Ticket{Number: q[1].Number - 1, Issued: q[1].Issued}
	if n.poll(lost).Known {
		t.Fatal("an unknown ticket came back after a clean stop")
	}
}

func testDowntime(t *testing.T, newLine New) {
	r := open(t, newLine, settings(1))
	r.fill(1)
	q := r.queue(3)
	r.pass(r.set.TTL / 2)
	r.poll(q[1])
	// Longer than the others have left to live, shorter than this one has.
	n := r.restart(newLine, r.snapshot(), r.set.TTL*3/4, false)
	n.wantOrder(q[1])
	// Ghosts do not hold up the line: nobody has polled, and somebody comes.
	n = r.restart(newLine, r.snapshot(), time.Second, false)
	n.l.Release(n.now, n.letIn(page(50)))
	// A damaged snapshot does no harm.
	bad := r.snapshot()
	bad.Tickets = append(bad.Tickets, bad.Tickets[1], line.SavedTicket{LastSeen: r.now})
	n = r.restart(newLine, bad, 0, false)
	n.wantOrder(q...)
}

func testReturn(t *testing.T, newLine New) {
	r := open(t, newLine, settings(1))
	r.fill(1)
	q := r.queue(4)
	r.pass(time.Minute)

	n := r.restart(newLine, line.Snapshot{}, 3*time.Second, true)
	slot := n.fill(1)[0]
	fresh := n.wantEnter(unheld(30), line.Waiting).Place.Ticket
	// They come back in any order and stand as they stood.
	for _, k := range []int{2, 0, 3} {
		if st := n.poll(q[k]); !st.Known {
			t.Fatalf("ticket %d did not come back", k)
		}
	}
	n.wantOrder(q[0], q[2], q[3], fresh)
	if got := n.l.Stats(n.now).ReturnedTotal; got != 3 {
		t.Fatalf("%d returned, want 3", got)
	}
	// Once each.
	n.pass(10 * time.Second) // somebody who stood further ahead might still return before
	d := n.wantEnter(back(q[0], 0), line.AtDoor)
	n.l.Release(n.now, slot)
	n.wantGrant(d, line.Admitted)
	if n.poll(q[0]).Known {
		t.Fatal("a returned ticket that was used came back again")
	}
	n.must(n.l.Remove(t.Context(), n.now, q[2]))
	if n.poll(q[2]).Known {
		t.Fatal("a returned ticket that was removed came back again")
	}
	// And not for ever.
	n.pass(n.set.TTL)
	if n.poll(q[1]).Known {
		t.Fatal("a ticket came back later than it can have lived")
	}
	// Numbers that this line may give are not believed.
	if n.poll(line.Ticket{Number: fresh.Number + 1000, Issued: q[0].Issued}).Known {
		t.Fatal("a ticket came back that was never given")
	}
}

// testOrderAfterRestart: who asks first after a restart is not let in first.
func testOrderAfterRestart(t *testing.T, newLine New) {
	r := open(t, newLine, settings(1))
	r.fill(1)
	q := r.queue(3)
	for _, k := range q {
		r.poll(k)
	}
	n := r.restart(newLine, r.snapshot(), time.Second, true)
	late := n.wantEnter(back(q[2], 3), line.AtDoor)
	n.wantNoGrant(late)
	first := n.letIn(back(q[0], 1))
	n.wantNoGrant(late)
	n.l.Release(n.now, first)
	n.wantNoGrant(late) // the second may still come
	n.l.Release(n.now, n.letIn(back(q[1], 2)))
	n.wantGrant(late, line.Admitted)
}
