package memory

import (
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/internal/allocs"
	"github.com/andreimerlescu/concert/line"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func settings(slots int) line.Settings {
	return line.Settings{
		Policy:         line.Policy{Cap: slots},
		TTL:            5 * time.Minute,
		FirstPollGrace: 30 * time.Second,
		Sweep:          36 * time.Second,
		DoorMax:        1000,
		DoorWait:       3 * time.Second,
	}
}

func newLine(s line.Settings) *Line {
	return New(Options{Settings: s, Start: start, Jitter: rand.NewPCG(1, 2)})
}

// somebody is a client key of its own for each k.
func somebody(k int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(k >> 16), byte(k >> 8), byte(k)}), 32)
}

func page(k int) line.Entry { return line.Entry{Client: somebody(k), MayHold: true} }

func TestEnterAllocatesNothing(t *testing.T) {
	l, e := newLine(settings(10)), page(1)
	now := start
	if got := allocs.PerRun(1000, func() {
		now = now.Add(time.Millisecond)
		d, _ := l.Enter(t.Context(), now, e)
		if d.Verdict != line.Admitted {
			t.Fatalf("verdict %v, want admitted", d.Verdict)
		}
		l.Release(now, d.Slot)
	}); got != 0 {
		t.Errorf("Enter and Release allocate %v times, want 0", got)
	}
}

func TestPollAllocatesNothing(t *testing.T) {
	l, tickets, now := fill(t, 2000)
	k := 0
	if got := allocs.PerRun(1000, func() {
		now = now.Add(2 * time.Millisecond)
		k = (k + 7) % len(tickets)
		if st, _ := l.Poll(t.Context(), now, tickets[k]); !st.Known {
			t.Fatal("a ticket is lost")
		}
	}); got != 0 {
		t.Errorf("Poll allocates %v times, want 0", got)
	}
}

// TestPollsAreFew has a long line whose visitors ask when told to ask no more
// often than the budget says, whatever its length.
func TestPollsAreFew(t *testing.T) {
	for _, n := range []int{100, 2000, 10_000} {
		l, tickets, now := fill(t, n)
		polls := 0.0 // a second
		for _, k := range tickets {
			st, _ := l.Look(t.Context(), now, k)
			polls += 1 / st.Place.PollAfter.Seconds()
		}
		if most := 1.3 * pollsPerSecond; polls > most {
			t.Errorf("%d visitors poll %.0f times a second, want at most %.0f", n, polls, most)
		}
	}
}

// TestTimeRunsOn has a time earlier than one before count as that one.
func TestTimeRunsOn(t *testing.T) {
	l := newLine(settings(1))
	d, _ := l.Enter(t.Context(), start.Add(time.Minute), page(1))
	w, _ := l.Enter(t.Context(), start, line.Entry{Client: somebody(2)})
	l.Release(start.Add(-time.Hour), d.Slot)
	if got := l.Stats(start).MeanHold; got != 0 {
		t.Errorf("held for %v, want 0", got)
	}
	if got := w.Place.Ticket.Issued; !got.Equal(start.Add(time.Minute)) {
		t.Errorf("issued at %v, want the latest time seen", got)
	}
}
