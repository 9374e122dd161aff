package redisline

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/internal/rawtest"
	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/line/redis/redistest"
)

// settings are those of most tests, with a number of slots.
func settings(slots int) line.Settings {
	return line.Settings{
		Policy: line.Policy{Cap: slots}, TTL: 5 * time.Minute, FirstPollGrace: 30 * time.Second,
		DoorMax: 1000, DoorWait: 3 * time.Second,
	}
}

// join makes an instance of the room "t" that runs on the clock, and ends with
// the test.
func join(tb testing.TB, s *redistest.Server, name string, slots int) *Line {
	tb.Helper()
	l := New(Options{Conn: connect(tb, s), Room: "t", Instance: name, Settings: settings(slots)})
	if err := l.Join(tb.Context(), time.Now()); err != nil {
		tb.Fatal(err)
	}
	return l
}

// connect makes a connection of its own to a server.
func connect(tb testing.TB, s *redistest.Server) *Conn {
	tb.Helper()
	return patient(tb, s.URL())
}

// patient makes a connection for which a machine that stands still for some
// seconds is no outage.
func patient(tb testing.TB, url string) *Conn {
	tb.Helper()
	c, err := ParseURL(url)
	if err != nil {
		tb.Fatal(err)
	}
	c.CallTimeout, c.option.ConnWriteTimeout, c.option.Dialer.Timeout = rawtest.Patience, rawtest.Patience, rawtest.Patience
	tb.Cleanup(c.Close)
	return c
}

func client(k int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(k >> 16), byte(k >> 8), byte(k)}), 32)
}

// given makes an instance whose time is stepped by the test.
func given(t *testing.T, s *redistest.Server, name string, slots int, now time.Time) *Line {
	t.Helper()
	l := New(Options{Conn: connect(t, s), Room: "t", Instance: name, Settings: settings(slots), Given: true})
	if err := l.Join(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	return l
}

func enter(t *testing.T, l *Line, now time.Time, e line.Entry, want line.Verdict) line.Decision {
	t.Helper()
	d, err := l.Enter(t.Context(), now, e)
	if err != nil || d.Verdict != want {
		t.Fatalf("entry %+v: verdict %v, %v; want %v", e, d.Verdict, err, want)
	}
	return d
}

func page(k int) line.Entry { return line.Entry{Client: client(k), MayHold: true} }

func beat(t *testing.T, now time.Time, all ...*Line) {
	t.Helper()
	for _, l := range all {
		if _, err := l.Advance(t.Context(), now); err != nil {
			t.Fatal(err)
		}
	}
}

func outcome(d line.Decision) (line.Verdict, bool) {
	select {
	case <-d.Door.Done():
		return d.Door.Outcome().Verdict, true
	default:
		return 0, false
	}
}

// lent is the sum of what the instances hold by Redis's account.
func lent(l *Line) int { return l.Fleet().Lent }

// pass lets time pass in steps in which instances call.
func pass(t *testing.T, now *time.Time, d time.Duration, all ...*Line) {
	t.Helper()
	for end := now.Add(d); now.Before(end); {
		*now = now.Add(20 * time.Millisecond)
		beat(t, *now, all...)
	}
}

// live runs an instance on the clock until the test ends.
func live(t *testing.T, s *redistest.Server, o Options) *Line {
	t.Helper()
	conn, err := ParseURL(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	o.Conn = conn
	return run(t, o)
}

// run is live with a connection of its own.
func run(t *testing.T, o Options) *Line {
	t.Helper()
	o.Room = "t"
	l := New(o)
	rawtest.Until(t, "Redis is reached", func() bool { return l.Join(t.Context(), time.Now()) == nil })
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{}, 2)
	go func() { line.Drive(ctx, l); done <- struct{}{} }() // ends with the test
	go func() { l.Run(ctx); done <- struct{}{} }()         // the same
	t.Cleanup(func() {
		cancel()
		<-done
		<-done
	})
	return l
}

func down(l *Line) func() bool { return func() bool { return l.Fleet().Down } }
func up(l *Line) func() bool   { return func() bool { return !l.Fleet().Down } }

// answered asks until there is an answer: after an outage each connection is
// found dead when it is used, and whoever asks then is told to try again.
func answered[T any](t *testing.T, ask func() (T, error)) (answer T) {
	t.Helper()
	rawtest.Until(t, "Redis has answered", func() bool {
		var err error
		answer, err = ask()
		return err == nil
	})
	return answer
}

// awaitGrant waits for the outcome at the door.
func awaitGrant(t *testing.T, d line.Decision) line.Decision {
	t.Helper()
	select {
	case <-d.Door.Done():
		return d.Door.Outcome()
	case <-time.After(rawtest.Patience):
		t.Fatal("nothing became of a request at the door")
		return line.Decision{}
	}
}

// admit lets somebody in, by way of the door if a slot was just lent.
func admit(t *testing.T, l *Line, e line.Entry) line.Decision {
	t.Helper()
	d := enterAny(t, l, e)
	if d.Verdict == line.AtDoor {
		d = awaitGrant(t, d)
	}
	if d.Verdict != line.Admitted {
		t.Fatalf("verdict %v, want to be let in", d.Verdict)
	}
	return d
}

// Held is how many slots this process has in use.
func (l *Line) Held() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.share.used
}
