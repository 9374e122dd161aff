package memory

import (
	"net/netip"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/line"
)

// TestAbsentStaysAbsent: who stood at the door when a line was copied may have
// been let in there, so the restored line keeps their place and no slot.
func TestAbsentStaysAbsent(t *testing.T) {
	ctx, now := t.Context(), time.Unix(1_000_000, 0)
	set := line.Settings{
		Policy: line.Policy{Cap: 1}, TTL: time.Minute, Sweep: time.Second, DoorMax: 1, DoorWait: time.Hour,
	}
	enter := func(l *Line, last byte, k line.Ticket) line.Decision {
		t.Helper()
		d, err := l.Enter(ctx, now, line.Entry{Ticket: k, Client: netip.PrefixFrom(netip.AddrFrom4([4]byte{192, 0, 2, last}), 32), MayHold: true})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	old := New(Options{Settings: set, Start: now})
	enter(old, 1, line.Ticket{})
	stands, waits := enter(old, 2, line.Ticket{}), enter(old, 3, line.Ticket{})
	if stands.Verdict != line.AtDoor || waits.Verdict != line.Waiting {
		t.Fatalf("verdicts %v and %v, want one at the door and one waiting", stands.Verdict, waits.Verdict)
	}
	s, err := old.Snapshot(ctx, now)
	if err != nil || len(s.Tickets) != 2 || !s.Tickets[0].Absent || s.Tickets[1].Absent {
		t.Fatalf("%+v, %v: want the first of two absent", s.Tickets, err)
	}

	now = now.Add(time.Second)
	l := New(Options{Settings: set, Start: now})
	if err := l.Restore(ctx, now, s, false); err != nil {
		t.Fatal(err)
	}
	if st := l.Stats(now); st.Live != 2 || st.Present != 1 {
		t.Errorf("%d tickets, %d present; want 2 and 1", st.Live, st.Present)
	}
	if again, err := l.Snapshot(ctx, now); err != nil || !again.Tickets[0].Absent || again.Tickets[1].Absent {
		t.Errorf("copied again: %+v, %v", again.Tickets, err)
	}
	if d := enter(l, 3, waits.Place.Ticket); d.Verdict != line.Admitted {
		t.Errorf("who waits behind somebody absent: verdict %v, want let in", d.Verdict)
	}
	if d := enter(l, 2, stands.Place.Ticket); d.Verdict == line.Waiting && d.Place.Position != 1 || d.Place.Fresh {
		t.Errorf("who was absent has place %+v, want the first", d.Place)
	}
}
