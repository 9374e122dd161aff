package redisline

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/line/redis/redistest"
)

// TestOrderAtPeace: which instance a request comes to is all the same.
// Invariants 1, 2 and 4.
func TestOrderAtPeace(t *testing.T) {
	t.Parallel()
	inOrder(t, gather(t, 3, 400, 12, 4*time.Second), 0.005)
}

// TestOrderWhileCutOff: an instance that is cut off from Redis, to which a
// balancer goes on sending one request in three, costs few their turn.
// Invariants 1, 2 and 4.
func TestOrderWhileCutOff(t *testing.T) {
	t.Parallel()
	c := gather(t, 3, 900, 18, 5*time.Second)
	c.cut(c.instances[1], 9*time.Second, 12*time.Second)
	inOrder(t, c, 0.01)
}

// inOrder has a throng be served with no more than a share of the pairs inverted.
func inOrder(t *testing.T, c *throng, most float64) {
	t.Helper()
	c.run(2 * time.Minute)
	got := c.inverted()
	t.Logf("%.2f %% of the pairs inverted, all served within %v", 100*got, c.now.Sub(c.began))
	if got > most {
		t.Errorf("invariant 2: %.2f %% of the pairs inverted, want at most %.2f", 100*got, 100*most)
	}
	if slots := c.instances[0].set.Policy.Cap; c.peak > slots {
		t.Errorf("invariant 1: %d pages at the origin at once, cap %d", c.peak, slots)
	}
}

// alone makes an instance of two that is cut off from Redis, with one slot in
// use and a ticket that is first in line.
func alone(t *testing.T) (l *Line, first line.Ticket, now time.Time) {
	t.Helper()
	s := redistest.Start(t)
	now = time.Now()
	a, b := given(t, s, "a", 1, now), given(t, s, "b", 1, now)
	enter(t, a, now, page(1), line.Admitted)
	first = enter(t, a, now, line.Entry{Client: client(2)}, line.Waiting).Place.Ticket
	beat(t, now, a, b, a)
	a.failed(now, errDown)
	return a, first, now
}

// TestSentElsewhere: an instance that is on its own tells whoever is first to
// come, as another may know more; but only once.
func TestSentElsewhere(t *testing.T) {
	t.Parallel()
	l, first, now := alone(t)
	now = now.Add(shareFor) // it lets nobody in any more
	for k, want := range []bool{true, false} {
		now = now.Add(time.Second)
		if st, err := l.Poll(t.Context(), now, first); err != nil || !st.Known || st.Ready != want {
			t.Errorf("poll %d: %+v, %v; ready is to be %v", k+1, st, err, want)
		}
	}
}

// TestDoorEndsWithTheShare: nobody stands at a door where nobody is let in any
// more. Invariant 4: the place is kept.
func TestDoorEndsWithTheShare(t *testing.T) {
	t.Parallel()
	l, first, now := alone(t)
	e := page(2)
	e.Ticket = first
	d := enter(t, l, now, e, line.AtDoor)
	now = now.Add(shareFor)
	if d.Until.After(now) {
		t.Errorf("a request may stand at the door for %v, the share is good for %v", d.Until.Sub(now.Add(-shareFor)), shareFor)
	}
	l.mu.Lock()
	l.serveAlone(now)
	l.mu.Unlock()
	if v, ok := outcome(d); !ok || v != line.Waiting || d.Door.Outcome().Place.Ticket != first {
		t.Errorf("when the share is over: verdict %v, %v", v, ok)
	}
	enter(t, l, now, e, line.Waiting)
}

// TestSilenceIsNoticedEarly: a call that waits while no other is answered fails
// after half its time.
func TestSilenceIsNoticedEarly(t *testing.T) {
	for _, answered := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			l := New(Options{Conn: &Conn{CallTimeout: callTimeout}})
			began, want := time.Now(), callTimeout/2
			call, end := l.limit(t.Context())
			defer end()
			if answered {
				l.answers.Add(1)
				want = callTimeout
			}
			<-call.Done()
			if d, silent := time.Since(began), call.silent.Load(); d != want || silent == answered {
				t.Errorf("answered is %v: ended after %v, for silence %v; want %v", answered, d, silent, want)
			}
		})
	}
}
