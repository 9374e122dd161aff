package redisline

import (
	"testing"
	"time"

	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/line/redis/redistest"
)

// TestGivenBackTwice: a place that was given back for an instance that was only
// slow is used once.
func TestGivenBackTwice(t *testing.T) {
	s, now := redistest.Start(t), time.Now()
	a, b := given(t, s, "a", 1, now), given(t, s, "b", 1, now)
	slot := enter(t, b, now, page(1), line.Admitted).Slot
	mine := enter(t, a, now, line.Entry{Client: client(2)}, line.Waiting).Place.Ticket
	enter(t, b, now, line.Entry{Client: client(3)}, line.Waiting)
	b.Release(now, slot)
	e := page(2)
	e.Ticket = mine
	d := enter(t, a, now, e, line.Admitted)
	pass(t, &now, 3*time.Second, b)
	if st, err := b.Look(t.Context(), now, mine); err != nil || st.Known || st.Ended != line.EndedUnknown {
		t.Errorf("while the instance is silent the ticket is %+v, %v", st, err)
	}
	a.Release(now, d.Slot)
	beat(t, now, a)
	if st, err := b.Poll(t.Context(), now, mine); err != nil || st.Known {
		t.Errorf("after its page the ticket is %+v, %v", st, err)
	}
}

// TestStray: who was let in by a call whose answer never came, or while they
// left the door and Redis could not be told, has the place back.
func TestStray(t *testing.T) {
	s, now := redistest.Start(t), time.Now()
	a, b := given(t, s, "a", 2, now), given(t, s, "b", 2, now)
	slots := []line.Slot{enter(t, b, now, page(1), line.Admitted).Slot, enter(t, b, now, page(1), line.Admitted).Slot}
	var mine [3]line.Ticket
	for k := range mine {
		mine[k] = enter(t, a, now, line.Entry{Client: client(2 + k)}, line.Waiting).Place.Ticket
	}
	beat(t, now, b) // it learns that somebody waits
	b.Release(now, slots[0])
	e := page(2)
	e.Ticket = mine[0]
	if got, err := a.call(t.Context(), now, request{op: "enter", args: entryArgs(&e, "x", false), surrender: true}); err != nil || got.verdict() != "ADMITTED" {
		t.Fatal(got, err)
	}
	e.Ticket = mine[1]
	at := enter(t, a, now, e, line.AtDoor)
	a.failed(now, errDown)
	a.mu.Lock()
	a.doubt(mine[0].Number, "x") // as when the call had failed
	a.mu.Unlock()
	if d := at.Door.Leave(now, false); d.Verdict != line.Waiting {
		t.Fatalf("verdict %v", d.Verdict)
	}
	b.Release(now, slots[1])
	a.retry(t.Context(), now)
	for k, ticket := range mine {
		if st, err := b.Poll(t.Context(), now, ticket); err != nil || !st.Known || st.Place.Position != k+1 {
			t.Errorf("ticket %d is %+v, %v", k, st, err)
		}
	}
	beat(t, now, a, b)
	beat(t, now, a, b)
	if st := b.Stats(now); st.InFlight != 0 {
		t.Errorf("%d in flight after nobody was let in", st.InFlight)
	}
}

// TestLateCall: what an instance sent before it synchronized has no effect when
// it arrives after that.
func TestLateCall(t *testing.T) {
	s, now := redistest.Start(t), time.Now()
	l := given(t, s, "a", 5, now)
	l.mu.Lock()
	e := page(1)
	args := append(l.head(now, "enter", l.share.report(0, l.moment(now))), entryArgs(&e, "x", false)...)
	l.mu.Unlock()
	if err := l.synchronize(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	if _, err := l.exec(t.Context(), now, args); err != errBehind {
		t.Errorf("a late call: %v, want %v", err, errBehind)
	}
	if st := l.Stats(now); st.AdmittedTotal != 0 {
		t.Errorf("a late call let somebody in: %+v", st)
	}
}

// TestLostAnswer: a slot that was given with an answer that never came is given
// back with the next synchronization.
func TestLostAnswer(t *testing.T) {
	s, now := redistest.Start(t), time.Now()
	l := given(t, s, "a", 2, now)
	e := page(1)
	for range 2 { // nobody takes in that these were admitted
		if b, err := l.call(t.Context(), now, request{op: "enter", args: entryArgs(&e, "x", false), surrender: true}); err != nil || b.verdict() != "ADMITTED" {
			t.Fatal(b, err)
		}
	}
	enter(t, l, now, line.Entry{NoPlace: true}, line.Busy)
	if err := l.synchronize(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	enter(t, l, now, line.Entry{NoPlace: true}, line.Admitted)
}
