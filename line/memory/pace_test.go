package memory

import (
	"testing"
	"time"

	"github.com/andreimerlescu/concert/line"
)

// TestPollsOfALineThatMoves holds what docs/performance.md counts with: whose turn
// is near asks more often than the rest, the more of them the faster the line.
func TestPollsOfALineThatMoves(t *testing.T) {
	for _, c := range []struct {
		cap  int
		hold time.Duration
		n    int
	}{
		{10, 200 * time.Millisecond, 2000},
		{50, 250 * time.Millisecond, 20_000},
		{400, 400 * time.Millisecond, 60_000},
	} {
		l, now := busy(t, c.cap, c.hold)
		polls := 0.0 // a second
		for _, k := range queueUp(t, l, now, c.n) {
			st, _ := l.Look(t.Context(), now, k)
			polls += 1 / st.Place.PollAfter.Seconds()
		}
		pages := float64(c.cap) / c.hold.Seconds()
		if most := pollsPerSecond + 9*pages + float64(c.n)/90; polls > most || polls < most/2 {
			t.Errorf("%d visitors, of whom %.0f a second get in, poll %.0f times a second, want %.0f or a little less", c.n, pages, polls, most)
		}
	}
}

// busy is a line that knows how long a page takes, and has all its slots out.
func busy(t *testing.T, slots int, hold time.Duration) (*Line, time.Time) {
	t.Helper()
	s := settings(slots)
	s.DoorMax = 0
	l, now := newLine(s), start
	held := make([]line.Slot, slots)
	for end := start.Add(20 * time.Second); ; now = now.Add(hold) {
		for k := range held {
			if now.After(start) {
				l.Release(now, held[k])
			}
			d, _ := l.Enter(t.Context(), now, page(k))
			if d.Verdict != line.Admitted {
				t.Fatalf("verdict %v, want admitted", d.Verdict)
			}
			held[k] = d.Slot
		}
		if now.After(end) {
			return l, now
		}
	}
}

// queueUp has n visitors join a line and ask for the first time.
func queueUp(t *testing.T, l *Line, now time.Time, n int) (tickets []line.Ticket) {
	t.Helper()
	for k := range n {
		d, _ := l.Enter(t.Context(), now, page(1_000_000+k))
		if d.Verdict != line.Waiting {
			t.Fatalf("verdict %v, want waiting", d.Verdict)
		}
		tickets = append(tickets, d.Place.Ticket)
	}
	for _, k := range tickets {
		if st, _ := l.Poll(t.Context(), now, k); !st.Known || st.Ready {
			t.Fatalf("poll says %+v", st)
		}
	}
	return tickets
}
