package memory

import (
	"testing"
	"time"

	"github.com/andreimerlescu/concert/line"
)

// More changes than are kept show as a gap.
func TestTooManyChangesShow(t *testing.T) {
	c := crash(t, 1, 1, true, 0)
	c.l.Changes(nil)
	for k := range journalMost/2 + 2 {
		d, _ := c.l.Enter(t.Context(), c.now, line.Entry{Client: somebody(k + 5)})
		if err := c.l.Quit(t.Context(), c.now, d.Place.Ticket); err != nil {
			t.Fatal(err)
		}
	}
	changes := c.l.Changes(nil)
	if len(changes) == 0 || changes[0].Sequence <= 1 {
		t.Fatalf("%d changes from %+v on: want a gap before the first", len(changes), changes[:1])
	}
	for i, ch := range changes {
		if ch.Sequence != changes[0].Sequence+uint64(i) {
			t.Fatalf("change %d is numbered %d", i, ch.Sequence)
		}
	}
}

// TestReturnsAreJournalled: replayed, the changes give the line with those who
// returned, where they stand.
func TestReturnsAreJournalled(t *testing.T) {
	for _, order := range [][]int{{11, 4, 8, 5}, {4, 5, 11}, {8, 7, 6, 5, 4}, {11, 10, 3, 9}} {
		c := crash(t, 12, 3, true, time.Second)
		s, _ := c.l.Snapshot(t.Context(), c.now)
		replay := line.NewReplay(s)
		for _, k := range order {
			c.come(k)
		}
		for _, change := range c.l.Changes(nil) {
			replay.Apply(change)
		}
		want, _ := c.l.Snapshot(t.Context(), c.now)
		got := replay.Snapshot()
		for i := range want.Tickets {
			if i >= len(got.Tickets) || got.Tickets[i].Ticket.Number != want.Tickets[i].Ticket.Number {
				t.Fatalf("after %v: replayed\n%+v\nwant\n%+v", order, got.Tickets, want.Tickets)
			}
		}
	}
}

// TestRanksAreJournalled: after a crash a head start is what it was, for those
// who are in the journal only.
func TestRanksAreJournalled(t *testing.T) {
	set := settings(1)
	set.DoorMax, set.RankLead = 0, 2
	old := New(Options{Settings: set, Start: start, Record: true})
	empty, _ := old.Snapshot(t.Context(), start)
	_, _ = old.Enter(t.Context(), start, page(0)) // never fails
	for k, rank := range []uint8{0, 0, 0, 1, 0, 2, 1} {
		_, _ = old.Enter(t.Context(), start, line.Entry{Client: somebody(k + 1), Rank: rank})
	}
	replay := line.NewReplay(empty)
	for _, c := range old.Changes(nil) {
		replay.Apply(c)
	}
	want, _ := old.Snapshot(t.Context(), start)
	now := start.Add(time.Second)
	l := New(Options{Settings: set, Start: now})
	saved := replay.Snapshot()
	saved.Whole = true
	if err := l.Restore(t.Context(), now, saved, true); err != nil {
		t.Fatal(err)
	}
	got, _ := l.List(t.Context(), now, 0, 100)
	if len(got) != len(want.Tickets) {
		t.Fatalf("%d tickets, want %d", len(got), len(want.Tickets))
	}
	arrival := true // in the order in which they came
	for i, o := range got {
		w := want.Tickets[i]
		if o.Place.Ticket != w.Ticket || o.Rank != w.Rank {
			t.Errorf("place %d is ticket %d of rank %d, want %d of rank %d", i+1, o.Place.Ticket.Number, o.Rank, w.Ticket.Number, w.Rank)
		}
		arrival = arrival && (i == 0 || o.Place.Ticket.Number > got[i-1].Place.Ticket.Number)
	}
	if arrival {
		t.Error("no rank had a head start: the test sees nothing")
	}
}
