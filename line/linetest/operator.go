package linetest

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/andreimerlescu/concert/line"
)

func testPromote(t *testing.T, newLine New) {
	r := open(t, newLine, settings(1))
	slot := r.fill(1)[0]
	q := r.queue(5)
	promote := func(k line.Ticket, to int) {
		t.Helper()
		r.must(r.l.Promote(t.Context(), r.now, k, to))
		if !r.look(k).Place.Promoted {
			t.Fatal("a promoted ticket does not say so")
		}
	}
	promote(q[3], 1)
	r.wantOrder(q[3], q[0], q[1], q[2], q[4])
	promote(q[4], 1)
	r.wantOrder(q[4], q[3], q[0], q[1], q[2])
	promote(q[0], 2)
	r.wantOrder(q[4], q[0], q[3], q[1], q[2])
	promote(q[4], 5)
	r.wantOrder(q[0], q[3], q[1], q[2], q[4])
	promote(q[1], 3) // where it is
	r.wantOrder(q[0], q[3], q[1], q[2], q[4])
	for _, to := range []int{-1, 6} {
		if err := r.l.Promote(t.Context(), r.now, q[0], to); !errors.Is(err, line.ErrNoPosition) {
			t.Errorf("promote to %d: %v, want ErrNoPosition", to, err)
		}
	}
	if err := r.l.Promote(t.Context(), r.now, line.Ticket{Number: 1}, 1); !errors.Is(err, line.ErrUnknownTicket) {
		t.Errorf("promote an unknown ticket: %v, want ErrUnknownTicket", err)
	}
	if got := r.l.Stats(r.now).PromotedTotal; got != 5 {
		t.Errorf("%d promoted, want 5", got)
	}
	// The door goes by the new order, also for one who stands there.
	r.pass(time.Second)
	a, b := r.wantEnter(back(q[0], 0), line.AtDoor), r.wantEnter(back(q[3], 3), line.AtDoor)
	promote(q[3], 1)
	r.l.Release(r.now, slot)
	r.wantGrant(b, line.Admitted)
	r.wantNoGrant(a)
}

func testRemove(t *testing.T, newLine New) {
	r := open(t, newLine, settings(1))
	r.fill(1)
	q := r.queue(3)
	r.must(r.l.Remove(t.Context(), r.now, q[1]))
	r.wantOrder(q[0], q[2])
	if r.poll(q[1]).Known {
		t.Fatal("a removed ticket is still known")
	}
	if err := r.l.Remove(t.Context(), r.now, q[1]); !errors.Is(err, line.ErrUnknownTicket) {
		t.Fatalf("removed twice: %v, want ErrUnknownTicket", err)
	}
	r.pass(time.Second)
	d := r.wantEnter(back(q[0], 0), line.AtDoor)
	r.must(r.l.Remove(t.Context(), r.now, q[0]))
	r.wantGrant(d, line.Spent)
	r.wantOrder(q[2])
	if st := r.l.Stats(r.now); st.RemovedTotal != 2 || st.AtDoor != 0 {
		t.Fatalf("removed %d, at the door %d; want 2 and 0", st.RemovedTotal, st.AtDoor)
	}
}

func testRemoveClients(t *testing.T, newLine New) {
	r := open(t, newLine, settings(1))
	r.fill(1)
	var all []line.Ticket
	for _, c := range []string{"192.0.2.1/32", "192.0.2.200/32", "192.0.3.1/32", "2001:db8:1:2::/64", "2001:db8:1:3::/64", "192.0.2.1/32"} {
		e := line.Entry{Client: netip.MustParsePrefix(c)}
		all = append(all, r.wantEnter(e, line.Waiting).Place.Ticket)
	}
	remove := func(p string, want int) {
		t.Helper()
		got, err := r.l.RemoveClients(t.Context(), r.now, netip.MustParsePrefix(p))
		r.must(err)
		if got != want {
			t.Fatalf("%d tickets of %s removed, want %d", got, p, want)
		}
	}
	remove("198.51.100.0/24", 0)
	remove("192.0.2.1/32", 2)
	r.wantOrder(all[1], all[2], all[3], all[4])
	remove("192.0.2.0/24", 1)
	remove("2001:db8:1:3::/64", 1)
	remove("2001:db8::/32", 1)
	remove("::/0", 0) // IPv6 alone
	remove("0.0.0.0/0", 1)
	r.wantOrder()
	if got := r.l.Stats(r.now).RemovedTotal; got != 6 {
		t.Fatalf("%d removed in total, want 6", got)
	}
	kept := r.wantEnter(line.Entry{Client: netip.MustParsePrefix("192.0.2.7/32")}, line.Waiting).Place.Ticket
	r.wantEnter(line.Entry{Client: netip.MustParsePrefix("192.0.2.99/32")}, line.Waiting)
	n, err := r.l.RemoveClients(t.Context(), r.now, netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("192.0.2.0/28"))
	r.must(err)
	if n != 1 {
		t.Fatalf("%d removed beside those to spare, want 1", n)
	}
	r.wantOrder(kept)
}

func testList(t *testing.T, newLine New) {
	r := open(t, newLine, settings(1))
	r.fill(1)
	q := r.queue(700)
	for _, page := range [][2]int{{0, 1}, {0, 25}, {250, 100}, {699, 5}, {650, 1000}, {700, 5}, {5000, 5}, {0, 0}} {
		first, count := page[0], page[1]
		all, err := r.l.List(t.Context(), r.now, first, count)
		r.must(err)
		if want := min(count, max(0, len(q)-first)); len(all) != want {
			t.Fatalf("List(%d, %d) has %d entries, want %d", first, count, len(all), want)
		}
		for k, o := range all {
			n := first + k
			if o.Place.Position != n+1 || o.Place.Ticket.Number != q[n].Number || o.Client != client(n) || !o.Polled {
				t.Fatalf("List(%d, %d)[%d] is %+v", first, count, k, o)
			}
			if o.LastSeen.Sub(r.now).Abs() > time.Millisecond {
				t.Fatalf("last seen %v, want %v", o.LastSeen, r.now)
			}
		}
	}
}

func testLook(t *testing.T, newLine New) {
	r := open(t, newLine, settings(1))
	slot := r.fill(1)[0]
	q := r.queue(2)
	if r.look(line.Ticket{Number: 12345, Issued: r.now}).Known {
		t.Fatal("an unknown ticket is known")
	}
	r.pass(time.Minute)
	r.l.Release(r.now, slot)
	before := r.look(q[0])
	r.pass(time.Second)
	after := r.look(q[0])
	if before.Place.State != line.StateAbsent || after.Place.State != line.StateAbsent {
		t.Fatalf("looked at, an absent visitor became %v, then %v", before.Place.State, after.Place.State)
	}
	if after.Ready != before.Ready {
		t.Fatal("looked at, a visitor was called")
	}
	r.pass(r.set.TTL)
	r.look(q[0])
	if r.poll(q[0]).Known {
		t.Fatal("looked at, a ticket lived longer")
	}
}

func testCounters(t *testing.T, newLine New) {
	r := open(t, newLine, settings(2))
	slots := r.fill(2)
	q := r.queue(3)
	r.pass(2 * time.Second)
	for _, k := range q {
		r.poll(k)
	}
	for _, s := range slots {
		r.l.Release(r.now, s)
	}
	st := r.l.Stats(r.now)
	if st.MeanHold != 2*time.Second {
		t.Errorf("mean hold %v, want 2s", st.MeanHold)
	}
	if st.Utilization < 0 || st.Utilization > 1 || st.AdmissionRate <= 0 {
		t.Errorf("utilization %v, admission rate %v", st.Utilization, st.AdmissionRate)
	}
	st.MeanHold, st.Utilization, st.AdmissionRate = 0, 0, 0
	st.Called, st.Present = 0, 0 // for the implementation to choose
	want := line.Stats{Settings: r.set, Live: 3, QueuedTotal: 3, AdmittedTotal: 2}
	if diff := cmp.Diff(want, st); diff != "" {
		t.Errorf("stats differ (-want +got):\n%s", diff)
	}
}
