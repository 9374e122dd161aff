package redisline

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/line/redis/redistest"
)

// TestShares: while nobody waits most admissions cost no call, what is lent
// never adds up to more than the cap, and nothing that one does not use is kept
// from another.
func TestShares(t *testing.T) {
	const slots = 40
	s, now := redistest.Start(t), time.Now()
	a, b := given(t, s, "a", slots, now), given(t, s, "b", slots, now)
	var held []line.Slot
	for range 10 {
		held = append(held, enter(t, a, now, page(1), line.Admitted).Slot)
		now = now.Add(10 * time.Millisecond)
	}
	for range 2000 {
		a.Release(now, held[0])
		held = append(held[1:], enter(t, a, now, page(1), line.Admitted).Slot)
	}
	if calls := a.Fleet().Calls; calls > 12 {
		t.Errorf("2010 admissions took %d calls", calls)
	}
	for range slots - 10 { // more than half of all
		d, err := b.Enter(t.Context(), now, page(2))
		if err != nil {
			t.Fatal(err)
		}
		beat(t, now, a, b)
		beat(t, now, a, b)            // a heartbeat learns that somebody waits, the next gives back
		if d.Verdict == line.AtDoor { // until the other gave back what it does not use
			if v, ok := outcome(d); !ok || v != line.Admitted {
				t.Fatalf("slots are free: verdict %v, %v", v, ok)
			}
		} else if d.Verdict != line.Admitted {
			t.Fatalf("slots are free: verdict %v", d.Verdict)
		}
		if n := lent(b); n > slots {
			t.Fatalf("%d slots lent of %d", n, slots)
		}
		now = now.Add(50 * time.Millisecond)
	}
	enter(t, b, now, line.Entry{Client: client(3)}, line.Waiting)
	if n := a.Held() + b.Held(); n != slots {
		t.Errorf("%d in use while somebody waits, want all %d", n, slots)
	}
	// A smaller cap lets nobody in before enough slots came back.
	set := settings(5)
	if err := a.Configure(t.Context(), now, set); err != nil {
		t.Fatal(err)
	}
	beat(t, now, a, b)
	for _, slot := range held {
		a.Release(now, slot)
	}
	enter(t, a, now, line.Entry{Client: client(4), NoPlace: true}, line.Busy)
}

// TestDeadInstance: the slots of an instance that is silent come back when its
// lease has run out, and not before; those at its door keep their places.
func TestDeadInstance(t *testing.T) {
	s, now := redistest.Start(t), time.Now()
	a, b := given(t, s, "a", 3, now), given(t, s, "b", 3, now)
	for range 3 {
		enter(t, a, now, page(1), line.Admitted)
	}
	dead := enter(t, a, now, page(2), line.AtDoor)
	next := enter(t, b, now, page(3), line.AtDoor)
	for range 8 {
		now = now.Add(time.Second)
		beat(t, now, b)
		if v, ok := outcome(next); ok {
			t.Fatalf("verdict %v while the lease runs", v)
		}
	}
	now = now.Add(time.Second)
	beat(t, now, b)
	if v, ok := outcome(next); !ok || v != line.Admitted {
		t.Fatalf("the lease has run out: verdict %v, %v", v, ok)
	}
	f := b.Fleet()
	if f.Lost != 1 || len(f.Instances) != 1 || !f.Instances[0].Me {
		t.Errorf("the fleet is %+v", f)
	}
	st, err := b.Look(t.Context(), now, dead.Place.Ticket)
	if err != nil || !st.Known {
		t.Errorf("who stood at the lost instance's door: %+v, %v", st, err)
	}
	// Were it alive after all, it would take part again with what it has.
	beat(t, now, a)
	if n := lent(b); n > 3 {
		beat(t, now, b)
	}
	enter(t, b, now, line.Entry{Client: client(9), NoPlace: true}, line.Busy)
}

// TestOrphan: who stood at the door of an instance that is lost, and was never
// told of a place, has it all the same.
func TestOrphan(t *testing.T) {
	s, now := redistest.Start(t), time.Now()
	a, b := given(t, s, "a", 1, now), given(t, s, "b", 1, now)
	enter(t, b, now, page(1), line.Admitted)
	first := enter(t, a, now, page(2), line.AtDoor)
	again := enter(t, a, now, page(4), line.AtDoor)
	enter(t, b, now, line.Entry{Client: client(3)}, line.Waiting)
	second := enter(t, b, now, line.Entry{Client: client(2)}, line.Waiting) // asks again elsewhere
	for range 9 {
		now = now.Add(time.Second)
		beat(t, now, b)
	}
	if st, err := b.Look(t.Context(), now, second.Place.Ticket); err != nil || st.Place.Position != 1 {
		t.Errorf("the new ticket of the first is at %+v, %v", st.Place, err)
	}
	if st, err := b.Look(t.Context(), now, first.Place.Ticket); err != nil || st.Known {
		t.Errorf("the old ticket is at %+v, %v", st.Place, err)
	}
	d := enter(t, b, now, line.Entry{Client: client(4)}, line.Waiting)
	if d.Place.Position != 2 || d.Place.Ticket.Number != again.Place.Ticket.Number {
		t.Errorf("who comes only later is at %+v", d.Place)
	}
}

// TestCrashedPage: whose page an instance had that is lost, has the place back.
func TestCrashedPage(t *testing.T) {
	s, now := redistest.Start(t), time.Now()
	a, b := given(t, s, "a", 2, now), given(t, s, "b", 2, now)
	slots := []line.Slot{enter(t, a, now, page(1), line.Admitted).Slot, enter(t, a, now, page(1), line.Admitted).Slot}
	var mine []line.Ticket
	for k := range 3 {
		mine = append(mine, enter(t, b, now, line.Entry{Client: client(10 + k)}, line.Waiting).Place.Ticket)
	}
	for k, slot := range slots {
		a.Release(now, slot)
		e := page(10 + k)
		e.Ticket = mine[k]
		enter(t, a, now, e, line.Admitted)
	}
	e := line.Entry{Client: client(10), Ticket: mine[0]}
	again := enter(t, b, now, e, line.Waiting) // before it is known that a is lost
	for range 9 {
		now = now.Add(time.Second)
		beat(t, now, b)
	}
	if st, err := b.Look(t.Context(), now, again.Place.Ticket); err != nil || st.Place.Position != 1 {
		t.Errorf("who asked again is at %+v, %v", st.Place, err)
	}
	if st, err := b.Poll(t.Context(), now, mine[1]); err != nil || !st.Known || st.Place.Position != 2 {
		t.Errorf("who asks later is told %+v, %v", st, err)
	}
}

// TestDeafInstance: who was let in at the door of an instance that does not
// hear of it, and was never told of a place, has it back within a second,
// whether they have asked elsewhere already or do so later.
func TestDeafInstance(t *testing.T) {
	s, now := redistest.Start(t), time.Now()
	a, b := given(t, s, "a", 2, now), given(t, s, "b", 2, now)
	slots := []line.Slot{enter(t, b, now, page(1), line.Admitted).Slot, enter(t, b, now, page(1), line.Admitted).Slot}
	enter(t, a, now, page(2), line.AtDoor)
	first := enter(t, a, now, page(3), line.AtDoor)
	enter(t, b, now, line.Entry{Client: client(4)}, line.Waiting)
	for _, slot := range slots {
		b.Release(now, slot) // to those at a's door, which hears of nothing any more
	}
	again := enter(t, b, now, line.Entry{Client: client(2)}, line.Waiting)
	pass(t, &now, 700*time.Millisecond, b)
	if st, err := b.Look(t.Context(), now, again.Place.Ticket); err != nil || st.Place.Position != 1 {
		t.Errorf("who asked again elsewhere is at %+v, %v", st.Place, err)
	}
	// The slots are theirs, too; a newcomer would stand behind client 4.
	enter(t, b, now, line.Entry{Client: client(3)}, line.Admitted)
	e := page(2)
	e.Ticket = again.Place.Ticket
	enter(t, b, now, e, line.Admitted)
	enter(t, b, now, line.Entry{NoPlace: true}, line.Busy)
	beat(t, now, a) // alive after all, it lets nobody in beyond the cap
	if v, ok := outcome(first); ok && v == line.Admitted || a.Held() > 0 {
		t.Errorf("verdict %v, %d in use", v, a.Held())
	}
}

// TestPlacesBetween promotes to and fro, and compares with a slice.
func TestPlacesBetween(t *testing.T) {
	s, now := redistest.Start(t), time.Now()
	l := given(t, s, "a", 1, now)
	enter(t, l, now, page(1), line.Admitted)
	var want []uint64
	for k := range 12 {
		want = append(want, enter(t, l, now, line.Entry{Client: client(k)}, line.Waiting).Place.Ticket.Number)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for n := range 600 {
		from, to := rnd.IntN(len(want)), 1+rnd.IntN(2) // near the front, to make it hard
		if n%3 == 0 {
			to = 1 + rnd.IntN(len(want))
		}
		number := want[from]
		if err := l.Promote(t.Context(), now, line.Ticket{Number: number}, to); err != nil {
			t.Fatal(err)
		}
		want = slices.Insert(slices.Delete(want, from, from+1), to-1, number)
	}
	all, err := l.List(t.Context(), now, 0, len(want))
	if err != nil {
		t.Fatal(err)
	}
	var got []uint64
	for _, o := range all {
		got = append(got, o.Place.Ticket.Number)
	}
	if !slices.Equal(got, want) {
		t.Errorf("after 600 promotions the order is\n%v, want\n%v", got, want)
	}
}

// TestWithoutFunctions: servers before Redis 7 run the script by its digest.
func TestWithoutFunctions(t *testing.T) {
	s, now := redistest.Start(t, "--rename-command", "FCALL", ""), time.Now()
	l := given(t, s, "a", 1, now)
	enter(t, l, now, page(1), line.Admitted)
	enter(t, l, now, line.Entry{Client: client(2)}, line.Waiting)
}
