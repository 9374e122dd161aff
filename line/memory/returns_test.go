package memory

import (
	"slices"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/line/linetest"
)

// crashed is a line with one slot that was restored after a crash. Nobody can
// stand at the door.
type crashed struct {
	t       *testing.T
	l       *Line
	now     time.Time
	tickets []line.Ticket
}

// crash has so many wait in a line, of whom saved are in the snapshot, and
// restores it after a downtime.
func crash(t *testing.T, n, saved int, whole bool, down time.Duration) *crashed {
	t.Helper()
	set := settings(1)
	set.DoorMax = 0
	c := &crashed{t: t, now: start}
	old := New(Options{Settings: set, Start: start})
	if d, _ := old.Enter(t.Context(), start, page(0)); d.Verdict != line.Admitted {
		t.Fatal(d.Verdict)
	}
	var s line.Snapshot
	for k := range n {
		if k == saved {
			s, _ = old.Snapshot(t.Context(), c.now)
		}
		c.now = c.now.Add(time.Millisecond)
		d, _ := old.Enter(t.Context(), c.now, page(k+1))
		c.tickets = append(c.tickets, d.Place.Ticket)
	}
	if saved == n {
		s, _ = old.Snapshot(t.Context(), c.now)
	}
	s.Whole = whole
	c.now = c.now.Add(down)
	c.l = New(Options{Settings: set, Start: c.now, Record: true})
	if err := c.l.Restore(t.Context(), c.now, s, true); err != nil {
		t.Fatal(err)
	}
	return c
}

// come has visitor k, from 0, come with their ticket, and reports whether they
// are let in.
func (c *crashed) come(k int) bool {
	c.t.Helper()
	c.pass(time.Millisecond)
	d, _ := c.l.Enter(c.t.Context(), c.now, line.Entry{Ticket: c.tickets[k], Client: somebody(k + 1), MayHold: true})
	if d.Verdict == line.Admitted {
		c.l.Release(c.now, d.Slot)
		return true
	}
	if d.Verdict != line.Waiting || d.Place.Fresh {
		c.t.Fatalf("visitor %d: verdict %v, fresh %v", k, d.Verdict, d.Place.Fresh)
	}
	return false
}

func (c *crashed) pass(d time.Duration) {
	end := c.now.Add(d)
	linetest.Pass(c.t, c.l, c.now, end)
	c.now = end
}

// comeOrdered has all of them come from the last to the first until each is
// in, and checks the order in which they are let in.
func (c *crashed) comeOrdered() {
	c.t.Helper()
	var in []int
	for range 3 * len(c.tickets) {
		for k := range slices.Backward(c.tickets) {
			if !slices.Contains(in, k) && c.come(k) {
				in = append(in, k)
			}
		}
	}
	for i, k := range in {
		if i != k {
			c.t.Fatalf("let in as %v", in)
		}
	}
	if len(in) != len(c.tickets) {
		c.t.Fatalf("only %v were let in", in)
	}
}

func TestWhoAsksFirstAfterACrashIsNotFirst(t *testing.T) {
	for name, c := range map[string]*crashed{
		"all saved":        crash(t, 12, 12, true, time.Second),
		"some saved":       crash(t, 12, 5, true, time.Second),
		"none saved":       crash(t, 12, 0, true, time.Second),
		"after 29 seconds": crash(t, 12, 12, true, 29*time.Second),
	} {
		t.Run(name, func(t *testing.T) {
			c.t = t
			c.comeOrdered()
			if got := c.l.Stats(c.now).ReturnedTotal; name == "some saved" && got != 7 {
				t.Errorf("%d returned, want 7", got)
			}
		})
	}
}

// TestStartTakesNoTime: who is awaited is awaited from when the process serves,
// though it takes seconds to begin, and looks at the line meanwhile. Invariant 2.
func TestStartTakesNoTime(t *testing.T) {
	c := crash(t, 12, 12, true, time.Second)
	for range 20 {
		c.now = c.now.Add(standstill / 2)
		if _, err := c.l.Snapshot(t.Context(), c.now); err != nil {
			t.Fatal(err)
		}
	}
	c.comeOrdered()
}

// Nothing is known of those who are missing, so nobody is let in for a moment.
func TestUnknownOrderIsWaitedFor(t *testing.T) {
	c := crash(t, 12, 0, false, time.Second)
	for _, k := range []int{11, 5, 8} {
		if c.come(k) {
			t.Fatalf("%d is let in at once", k)
		}
	}
	if d, _ := c.l.Enter(t.Context(), c.now, page(99)); d.Verdict != line.Waiting {
		t.Fatalf("a newcomer: verdict %v", d.Verdict)
	}
	c.pass(lostTime - 100*time.Millisecond)
	for _, k := range []int{11, 5, 8} {
		if c.come(k) {
			t.Fatalf("%d is let in before all had the time to come", k)
		}
	}
	c.pass(100 * time.Millisecond)
	for _, k := range []int{8, 11, 5} {
		if got := c.come(k); got != (k == 5) {
			t.Errorf("%d let in: %v", k, got)
		}
	}
}

// idle is how long the slot stays free with nobody there but visitor k, who
// asks again and again.
func (c *crashed) idle(k int) time.Duration {
	c.t.Helper()
	began := c.now
	for !c.come(k) {
		if c.pass(50 * time.Millisecond); c.now.Sub(began) > time.Minute {
			c.t.Fatal("never let in")
		}
	}
	return c.now.Sub(began)
}

// TestGhostsIdleNoSlot: who does not come back is waited for no longer than
// until they should have asked, and nobody is after a long downtime.
func TestGhostsIdleNoSlot(t *testing.T) {
	for _, f := range []struct {
		name string
		c    *crashed
		most time.Duration
	}{
		{"quick", crash(t, 12, 12, true, 100*time.Millisecond), 2 * time.Second}, // asked to ask again after 1.1 s at the most
		{"after five seconds", crash(t, 12, 12, true, 5*time.Second), 7 * time.Second},
		{"after 20 seconds", crash(t, 12, 12, true, 20*time.Second), retryTime + time.Second},
		{"lost", crash(t, 12, 0, true, time.Second), lostTime + time.Second},
		{"unknown", crash(t, 12, 0, false, time.Second), lostTime + time.Second},
		{"after a minute", crash(t, 12, 12, true, time.Minute), 20 * time.Millisecond},
		{"lost for a minute", crash(t, 12, 3, true, time.Minute), 20 * time.Millisecond},
	} {
		t.Run(f.name, func(t *testing.T) {
			f.c.t = t
			got := f.c.idle(11)
			t.Logf("idle for %v", got)
			if got > f.most {
				t.Errorf("idle for %v, want at most %v", got, f.most)
			}
		})
	}
}

// Tickets that are known to have ended do not come back; those that may exist
// take up no place for long, and come back all the same.
func TestReturnsOfAWholeLine(t *testing.T) {
	c := crash(t, 12, 5, true, time.Second)
	ended := line.Ticket{Number: c.tickets[0].Number - 1, Issued: c.tickets[0].Issued}
	if st, _ := c.l.Poll(t.Context(), c.now, ended); st.Known {
		t.Error("a ticket that had ended came back")
	}
	c.come(8)
	if got := c.l.Stats(c.now).Live; got != 9 {
		t.Errorf("%d places once the ninth is back, want 9", got)
	}
	if s, _ := c.l.Snapshot(t.Context(), c.now); len(s.Tickets) != 6 {
		t.Errorf("%d tickets saved, want the five that were and the ninth", len(s.Tickets))
	}
	c.pass(lostTime + time.Second)
	if got := c.l.Stats(c.now).Live; got != 6 {
		t.Errorf("%d places after a while, want 6", got)
	}
	if st, _ := c.l.Poll(t.Context(), c.now, c.tickets[6]); !st.Known || st.Place.Position != 6 {
		t.Errorf("who comes later has %+v, want place 6", st)
	}
	checkSums(t, c.l)
}

// TestCrashAfterCrash: who came back, and was not saved before the next crash,
// comes back again.
func TestCrashAfterCrash(t *testing.T) {
	for _, whole := range []bool{true, false} {
		c := crash(t, 12, 4, whole, time.Second)
		for range 20 { // more than are told apart
			s, _ := c.l.Snapshot(t.Context(), c.now)
			s.Whole = true
			for _, k := range []int{7, 2, 9} {
				if st, _ := c.l.Poll(t.Context(), c.now, c.tickets[k]); !st.Known {
					t.Fatalf("whole %v: visitor %d is not known", whole, k)
				}
			}
			c.pass(time.Second)
			c.l = New(Options{Settings: c.l.set, Start: c.now})
			if err := c.l.Restore(t.Context(), c.now, s, true); err != nil {
				t.Fatal(err)
			}
		}
		c.comeOrdered()
	}
}

// TestHandOverAwaitsNobodyLonger than they would have been waited for anyway.
func TestHandOverAwaitsNobodyLonger(t *testing.T) {
	c := crash(t, 12, 12, true, 0)
	c.pass(700 * time.Millisecond) // they were told to ask after about 1.1 s
	s, _ := c.l.Snapshot(t.Context(), c.now)
	for i := range s.Tickets {
		s.Tickets[i].Polled = true
		s.Tickets[i].LastSeen = c.now.Add(-700 * time.Millisecond)
	}
	c.l = New(Options{Settings: c.l.set, Start: c.now})
	if err := c.l.Restore(t.Context(), c.now, s, false); err != nil {
		t.Fatal(err)
	}
	if c.come(11) {
		t.Error("the last is let in though the others are on their way")
	}
	if got := c.idle(11); got > 900*time.Millisecond {
		t.Errorf("idle for %v", got)
	}
}
