package redisline

import (
	"testing"
	"time"

	"github.com/andreimerlescu/concert/internal/rawtest"
	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/line/redis/redistest"
)

// TestFailover: when the server dies and a replica takes over, everybody has
// their place and every slot is accounted for.
func TestFailover(t *testing.T) {
	t.Parallel()
	g := redistest.StartGroup(t)
	conn := patient(t, g.URL())
	if conn.OneServer() {
		t.Error("a server that has sentinels is the only one")
	}
	l := run(t, Options{Conn: conn, Instance: "a", Settings: settings(2), Returning: true})
	first := func() (d line.Decision) { // a new room holds back its slots for a moment
		rawtest.Until(t, "a slot is given", func() bool {
			var err error
			d, err = l.Enter(t.Context(), time.Now(), line.Entry{NoPlace: true})
			return err == nil && d.Verdict == line.Admitted
		})
		return d
	}
	slots := []line.Slot{first().Slot, first().Slot}
	var q []line.Ticket
	for k := range 3 {
		q = append(q, enter(t, l, time.Now(), line.Entry{Client: client(k)}, line.Waiting).Place.Ticket)
	}
	g.Master.Kill()
	for k, ticket := range q {
		rawtest.Until(t, "a place is known to the replica", knows(t, l, ticket, k+1))
	}
	l.Release(time.Now(), slots[0])
	e := page(0)
	e.Ticket = q[0]
	letIn(t, l, e)
	rawtest.Until(t, "all slots are accounted for", func() bool { return l.Stats(time.Now()).InFlight == 2 })
}

// knows reports whether Redis answers that a ticket is at a position. Until a
// replica has taken over, instances answer by their own memory.
func knows(t *testing.T, l *Line, ticket line.Ticket, position int) func() bool {
	return func() bool {
		st, err := l.Poll(t.Context(), time.Now(), ticket)
		return err == nil && st.Known && st.Place.Position == position && !l.Fleet().Down
	}
}

// letIn has somebody come until they are let in: while Redis is away again, they
// are told to wait.
func letIn(t *testing.T, l *Line, e line.Entry) {
	t.Helper()
	rawtest.Until(t, "somebody is let in", func() bool {
		d := enterAny(t, l, e)
		if d.Verdict == line.AtDoor {
			d = awaitGrant(t, d)
		}
		return d.Verdict == line.Admitted
	})
}

func enterAny(t *testing.T, l *Line, e line.Entry) line.Decision {
	t.Helper()
	d, err := l.Enter(t.Context(), time.Now(), e)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestCluster: on a cluster of several masters all keys of a room are in one
// slot, the script is loaded where that is, and when the master dies that has it
// everybody has their place with its replica.
func TestCluster(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, "concert:{t}")
	join := func(name string) *Line {
		return run(t, Options{Conn: patient(t, c.URL()), Instance: name, Settings: settings(1)})
	}
	a, b := join("a"), join("b")
	slot := admit(t, a, page(1)).Slot
	at := enter(t, b, time.Now(), page(2), line.AtDoor)
	a.Release(time.Now(), slot)
	d := awaitGrant(t, at)
	if d.Verdict != line.Admitted {
		t.Fatalf("verdict %v", d.Verdict)
	}
	var q []line.Ticket
	for k := range 3 {
		q = append(q, enter(t, a, time.Now(), line.Entry{Client: client(k)}, line.Waiting).Place.Ticket)
	}
	c.Owner.Kill()
	for k, ticket := range q {
		for _, l := range []*Line{a, b} {
			rawtest.Until(t, "a place is known to the replica", knows(t, l, ticket, k+1))
		}
	}
	b.Release(time.Now(), d.Slot)
	e := page(0)
	e.Ticket = q[0]
	letIn(t, a, e)
}
