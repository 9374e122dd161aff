package gatetest

import (
	"errors"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/gate"
	"github.com/andreimerlescu/concert/persist"
)

// New makes an empty store for one test, at the time start.
type New func(t *testing.T, start time.Time) gate.Store

// rig is a store, the time, and a room to try.
type rig struct {
	*testing.T
	store gate.Store
	now   time.Time
	id    string
}

var operator = persist.By{Who: "token", Client: "192.0.2.1"}

func newRig(t *testing.T, open New, set func(*gate.Room)) *rig {
	t.Helper()
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	r := &rig{T: t, store: open(t, start), now: start, id: "demo"}
	room := gate.DefaultRoom()
	room.ID, room.Inflow, room.IntervalSec, room.Burst = r.id, 1, 10, 1
	room.TargetURL = "https://shop.example/"
	if set != nil {
		set(&room)
	}
	if _, err := r.store.Create(t.Context(), r.now, operator, room); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) pass(d time.Duration) { r.now = r.now.Add(d) }

func (r *rig) join() gate.Status {
	r.Helper()
	st, err := r.store.Join(r.Context(), r.now, r.id)
	if err != nil {
		r.Fatalf("join: %v", err)
	}
	return st
}

func (r *rig) joinMany(n int) (all []gate.Status) {
	r.Helper()
	for range n {
		all = append(all, r.join())
	}
	return all
}

// poll asks, and goes on with the next turn.
func (r *rig) poll(st *gate.Status) {
	r.Helper()
	next, err := r.store.Poll(r.Context(), r.now, r.id, st.Ticket)
	if err != nil {
		r.Fatalf("poll ticket %d: %v", st.Ticket.Number, err)
	}
	*st = next
}

func (r *rig) wantPoll(t gate.Ticket, want error) {
	r.Helper()
	if _, err := r.store.Poll(r.Context(), r.now, r.id, t); !errors.Is(err, want) {
		r.Errorf("poll ticket %d, turn %d: %v, want %v", t.Number, t.Turn, err, want)
	}
}

func (r *rig) exchange(t gate.Ticket) gate.Grant {
	r.Helper()
	g, err := r.store.Exchange(r.Context(), r.now, r.id, t)
	if err != nil {
		r.Fatalf("exchange ticket %d: %v", t.Number, err)
	}
	return g
}

func (r *rig) wantExchange(t gate.Ticket, want error) {
	r.Helper()
	if _, err := r.store.Exchange(r.Context(), r.now, r.id, t); !errors.Is(err, want) {
		r.Errorf("exchange ticket %d: %v, want %v", t.Number, err, want)
	}
}

func (r *rig) live() gate.Live {
	r.Helper()
	l, err := r.store.Room(r.Context(), r.now, r.id)
	if err != nil {
		r.Fatal(err)
	}
	return l
}

func (r *rig) wantAdmitted(want uint64) {
	r.Helper()
	if got := r.live().Admitted; got != want {
		r.Errorf("after %v: %d admitted, want %d", r.now.Sub(r.live().CreatedAt), got, want)
	}
}

func (r *rig) act(a gate.Action) {
	r.Helper()
	if _, err := r.store.Act(r.Context(), r.now, operator, r.id, a); err != nil {
		r.Fatalf("%s: %v", a, err)
	}
}

func (r *rig) update(p gate.Patch) {
	r.Helper()
	if _, err := r.store.Update(r.Context(), r.now, operator, r.id, p); err != nil {
		r.Fatal(err)
	}
}
