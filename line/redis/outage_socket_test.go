package redisline

import (
	"testing"
	"time"

	"github.com/andreimerlescu/concert/internal/rawtest"
	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/line/redis/redistest"
)

// TestAnotherInstancesSlot: a slot that one instance gives back is another's at
// once, whoever stands at its door.
func TestAnotherInstancesSlot(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	a := run(t, Options{Conn: connect(t, s), Instance: "a", Settings: settings(1)})
	b := run(t, Options{Conn: connect(t, s), Instance: "b", Settings: settings(1)})
	slot := admit(t, a, page(1)).Slot
	at := enter(t, b, time.Now(), page(2), line.AtDoor)
	began := time.Now()
	a.Release(time.Now(), slot)
	if d := awaitGrant(t, at); d.Verdict != line.Admitted {
		t.Fatalf("verdict %v", d.Verdict)
	}
	t.Logf("the slot took %v from one instance to another", time.Since(began))
}

// TestShareInAnOutage: with the policy share, an instance goes on with what is
// lent to it and no more, keeps the order, and when Redis is back without its
// memory everybody has their place.
func TestShareInAnOutage(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	l := live(t, s, Options{Instance: "a", Settings: settings(2), Returning: true})
	rawtest.Until(t, "slots are lent", func() bool {
		d, err := l.Enter(t.Context(), time.Now(), line.Entry{NoPlace: true})
		if err == nil && d.Verdict == line.Admitted {
			l.Release(time.Now(), d.Slot)
		}
		return d.Verdict == line.Admitted
	})
	slots := []line.Slot{admit(t, l, page(1)).Slot, admit(t, l, page(1)).Slot}
	var q []line.Ticket
	for k := range 4 {
		q = append(q, enter(t, l, time.Now(), line.Entry{Client: client(10 + k)}, line.Waiting).Place.Ticket)
	}
	rawtest.Until(t, "a heartbeat tells of the line", func() bool { return l.Stats(time.Now()).Live == 4 })
	s.Kill()
	rawtest.Until(t, "the outage is noticed", down(l))
	enter(t, l, time.Now(), line.Entry{Client: client(20), NoPlace: true}, line.Busy)
	fresh := enter(t, l, time.Now(), line.Entry{Client: client(21)}, line.Waiting).Place
	if !fresh.Fresh || fresh.Ticket.Number <= q[3].Number {
		t.Fatalf("a newcomer in an outage gets %+v", fresh)
	}
	l.Release(time.Now(), slots[0])
	e := page(10)
	e.Ticket = q[0]
	d := enter(t, l, time.Now(), e, line.Admitted)
	l.Release(time.Now(), slots[1])
	if st := l.Held(); st != 1 {
		t.Fatalf("%d slots in use, want 1", st)
	}
	s.Restart()
	rawtest.Until(t, "Redis is back", up(l))
	poll := func(ticket line.Ticket) line.Status {
		return answered(t, func() (line.Status, error) { return l.Poll(t.Context(), time.Now(), ticket) })
	}
	for _, k := range []line.Ticket{q[3], fresh.Ticket, q[2], q[1]} { // in any order
		if st := poll(k); !st.Known {
			t.Fatalf("ticket %d after the outage: %+v", k.Number, st)
		}
	}
	all := answered(t, func() ([]line.Occupant, error) { return l.List(t.Context(), time.Now(), 0, 10) })
	if len(all) != 4 || all[0].Place.Ticket.Number != q[1].Number || all[3].Place.Ticket.Number != fresh.Ticket.Number {
		t.Fatalf("the line after the outage: %+v", all)
	}
	if st := poll(q[0]); st.Known {
		t.Errorf("the ticket used in the outage: %+v", st)
	}
	l.Release(time.Now(), d.Slot)
}

// TestSilentRedis: when Redis does not answer, others may well be served by it;
// so the share is good for a few seconds only, and everything goes on after.
func TestSilentRedis(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	l := live(t, s, Options{Instance: "a", Settings: settings(4)})
	slot := admit(t, l, page(1)).Slot
	at := admit(t, l, page(1)).Slot
	s.Pause()
	rawtest.Until(t, "the outage is noticed", down(l))
	rawtest.Until(t, "the share is not used any more", func() bool {
		d, err := l.Enter(t.Context(), time.Now(), line.Entry{NoPlace: true})
		if d.Verdict == line.Admitted {
			l.Release(time.Now(), d.Slot)
		}
		return err == nil && d.Verdict == line.Busy
	})
	s.Resume()
	rawtest.Until(t, "Redis is back", up(l))
	l.Release(time.Now(), slot)
	l.Release(time.Now(), at)
	rawtest.Until(t, "all slots are free", func() bool { return l.Stats(time.Now()).InFlight == 0 })
	admit(t, l, page(1))
}

// TestLateStand: who comes to the door while the instance is already calling
// for Redis, is brought before it as well when it is back.
func TestLateStand(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	l := live(t, s, Options{Instance: "a", Settings: settings(1)})
	slot := admit(t, l, page(1)).Slot
	s.Pause()
	rawtest.Until(t, "the outage is noticed", down(l))
	rawtest.Until(t, "it calls for Redis", func() bool {
		if l.calls.TryRLock() {
			l.calls.RUnlock()
			return false
		}
		return true
	})
	at := enter(t, l, time.Now(), page(2), line.AtDoor)
	s.Resume()
	rawtest.Until(t, "Redis is back", up(l))
	l.Release(time.Now(), slot)
	if d := awaitGrant(t, at); d.Verdict != line.Admitted {
		t.Errorf("verdict %v", d.Verdict)
	}
}

// TestPolicies: closed has everybody wait, open lets everybody pass.
func TestPolicies(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	closed := live(t, s, Options{Instance: "a", Settings: settings(4), Down: Closed})
	open := live(t, s, Options{Instance: "b", Settings: settings(4), Down: Open})
	s.Kill()
	rawtest.Until(t, "the outage is noticed", func() bool { return down(closed)() && down(open)() })
	d := enter(t, closed, time.Now(), page(1), line.Waiting)
	if st, err := closed.Poll(t.Context(), time.Now(), d.Place.Ticket); err != nil || !st.Known || st.Ready {
		t.Errorf("closed, a poll says %+v, %v", st, err)
	}
	for k := range 20 {
		admit(t, open, page(k))
	}
	if f := open.Fleet(); f.Alone != 20 {
		t.Errorf("%d counted, want 20", f.Alone)
	}
	if _, err := open.List(t.Context(), time.Now(), 0, 5); err == nil {
		t.Error("an operator is shown a line that is away")
	}
}

// TestCutOff: an instance that is cut off alone stops letting people in before
// its slots are lent to others, and what it sent arrives too late to matter.
func TestCutOff(t *testing.T) {
	t.Parallel()
	const slots = 4
	s := redistest.Start(t)
	relay := redistest.StartRelay(t, s.Addr)
	conn, err := ParseURL(relay.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	a, b := run(t, Options{Conn: conn, Instance: "a", Settings: settings(slots)}), live(t, s, Options{Instance: "b", Settings: settings(slots)})
	admit(t, a, page(1))
	relay.Cut()
	// Both let in whom they can, until one has all that there is.
	ina, inb := 1, 0
	rawtest.Until(t, "the slots of the one are the other's", func() bool {
		for l, in := range map[*Line]*int{a: &ina, b: &inb} {
			d, err := l.Enter(t.Context(), time.Now(), line.Entry{NoPlace: true})
			if err == nil && d.Verdict == line.Admitted {
				*in++
				if l == a {
					l.Release(time.Now(), d.Slot) // its pages are done soon
					*in--
				}
			}
		}
		if inb > slots || inb == slots && admits(t, a) {
			t.Fatalf("%d in use at the one, while the other lets people in", inb)
		}
		return inb == slots
	})
	relay.Mend()
	rawtest.Until(t, "it takes part again", up(a))
	rawtest.Until(t, "what it has is known", func() bool { return b.Stats(time.Now()).InFlight == slots+1 })
	if admits(t, a) || admits(t, b) {
		t.Error("somebody is let in beyond the cap")
	}
}

// admits reports whether an instance lets somebody in who is gone at once.
func admits(t *testing.T, l *Line) bool {
	t.Helper()
	d, err := l.Enter(t.Context(), time.Now(), line.Entry{NoPlace: true})
	if err == nil && d.Verdict == line.Admitted {
		l.Release(time.Now(), d.Slot)
		return true
	}
	return false
}

// TestEvictedKeys: a Redis that drops keys to make room costs no more than one
// that forgets all: the line is built again.
func TestEvictedKeys(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"tickets", "stands"} {
		s := redistest.Start(t)
		l := live(t, s, Options{Instance: "a", Settings: settings(1)})
		slot := admit(t, l, page(1)).Slot
		q := []line.Ticket{
			enter(t, l, time.Now(), line.Entry{Client: client(2)}, line.Waiting).Place.Ticket,
			enter(t, l, time.Now(), line.Entry{Client: client(3)}, line.Waiting).Place.Ticket,
		}
		at := enter(t, l, time.Now(), page(4), line.AtDoor)
		c := s.Client(t)
		if err := c.Do(t.Context(), c.B().Del().Key(l.keys[0]+":"+key).Build()).Error(); err != nil {
			t.Fatal(err)
		}
		rawtest.Until(t, "everybody is back", func() bool {
			for k := len(q) - 1; k >= 0; k-- {
				st, err := l.Poll(t.Context(), time.Now(), q[k])
				if err != nil || !st.Known || l.Fleet().Down {
					return false
				}
			}
			all, err := l.List(t.Context(), time.Now(), 0, 5)
			return err == nil && len(all) == 3 && all[0].Place.Ticket.Number == q[0].Number && all[1].Place.Ticket.Number == q[1].Number
		})
		l.Release(time.Now(), slot)
		if d := awaitGrant(t, at); d.Verdict != line.Admitted && d.Verdict != line.Waiting {
			t.Errorf("without %s, at the door: verdict %v", key, d.Verdict)
		}
	}
}
