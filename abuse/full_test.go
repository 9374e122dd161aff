package abuse

import (
	"fmt"
	"net/netip"
	"testing"
	"time"
)

// numbered is the n-th of many addresses.
func numbered(n int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)})
}

func TestFullRosterTakesTheUnbannedFirst(t *testing.T) {
	c := config()
	c.MaxEntries = 4
	r := registry(t, c)
	var gone []string
	r.Subscribe(func(e Event) {
		if e.Kind == Forgotten {
			gone = append(gone, e.Ban.Client.Addr().String())
		}
	})
	now := r.Trap(numbered(1), "/.env", start).Until // was banned once
	r.Strike(numbered(2), "churn", 19, now)
	r.Strike(numbered(3), "churn", 19, now)
	r.Strike(numbered(2), "churn", 0, now) // no act
	r.Trap(numbered(4), "/.env", now)
	f := func(n int, tracked int, stays []int) {
		t.Helper()
		r.Strike(numbered(n), "churn", 1, now)
		if got := r.Stats(now).Tracked; got != tracked {
			t.Errorf("after %d: %d clients, want %d", n, got, tracked)
		}
		for _, n := range stays {
			if r.roster.clients[idOf(numbered(n))] == nil {
				t.Errorf("client %d is gone", n)
			}
		}
	}
	f(5, 4, []int{1, 3, 4, 5}) // for 2, struck longest ago
	f(3, 4, []int{1, 3, 4, 5}) // bans 3
	f(6, 4, []int{1, 3, 4, 6}) // for 5
	r.Trap(numbered(6), "/.env", now)
	f(7, 4, []int{3, 4, 6, 7}) // for 1, as no other is left
	r.Trap(numbered(7), "/.env", now)
	f(8, 4, []int{3, 4, 6, 7}) // for nobody
	if got := fmt.Sprint(gone, r.Stats(now).DroppedAll); got != "[10.0.0.1] 1" {
		t.Errorf("records gone and acts dropped: %s", got)
	}
}

func TestFullOfBans(t *testing.T) {
	c := config()
	c.MaxEntries = 1
	r := registry(t, c)
	order(t, r, "203.0.113.9", 0, start)
	for range 2 {
		b := r.Trap(numbered(1), "/.env", start)
		if b == nil || b.Remaining(start) != c.Cooldown {
			t.Errorf("a ban path is answered by %+v", b)
		}
	}
	wantBanned(t, r, "10.0.0.1", start, 0)
	order(t, r, "198.51.100.7", time.Hour, start) // an operator's goes beyond
	wantBanned(t, r, "203.0.113.9", start, 1<<63-1)
	wantBanned(t, r, "198.51.100.7", start, time.Hour)
	if s := r.Stats(start); s.Tracked != 2 || s.DroppedAll != 2 {
		t.Errorf("stats %+v", s)
	}
	r.Trap(numbered(1), "/.env", after(time.Hour)) // a ban that is over makes room
	wantBanned(t, r, "10.0.0.1", after(time.Hour), c.Cooldown)
}

func TestLoweredLimit(t *testing.T) {
	c := config()
	r := registry(t, c)
	now := r.Trap(numbered(1), "/.env", start).Until
	for n := range 10 {
		r.Strike(numbered(100+n), "churn", 1, now)
	}
	r.Trap(numbered(2), "/.env", now)
	c.MaxEntries = 3
	if err := r.Apply(c, now); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 2, 109} {
		if r.roster.clients[idOf(numbered(n))] == nil {
			t.Errorf("client %d is gone", n)
		}
	}
	if got := r.Stats(now).Tracked; got != 3 {
		t.Errorf("%d clients, want 3", got)
	}
}

// A flood of addresses against a full roster loses no ban and blocks nobody
// who did nothing, and every ban path is refused.
func TestFlood(t *testing.T) {
	const most, attackers = 2000, 10_000
	c := config()
	c.MaxEntries = most
	r := registry(t, c)
	bans, before := 0, 0
	r.Subscribe(func(e Event) {
		switch e.Kind {
		case Banned:
			bans++
		case Lifted, Ended:
			t.Errorf("%v: ban of %v at %v", e.Kind, e.Ban.Client, e.At)
		}
	})
	for n := range most / 2 {
		order(t, r, numbered(1_000_000+n).String(), time.Hour, start)
	}
	order(t, r, "192.0.2.0/24", 0, start)
	before = bans
	for round := range 4 { // 4 × 5 strikes reach the limit
		for n := range attackers {
			now := after(time.Duration(round*attackers+n) * time.Millisecond)
			r.Strike(numbered(n), "forged-pass", 5, now)
			if n%10 == 9 {
				if b := r.Trap(numbered(n), "/.env", now); b == nil || !b.Active(now) {
					t.Fatalf("attacker %d gets through to a ban path", n)
				}
			}
		}
	}
	now := after(4 * attackers * time.Millisecond)
	for n := range most / 2 {
		if r.Lookup(numbered(1_000_000+n), now) == nil {
			t.Fatalf("the ban of client %d is lost", n)
		}
	}
	for n := range 50_000 {
		if b := r.Lookup(numbered(500_000+n), now); b != nil {
			t.Fatalf("an honest client is blocked: %+v", b)
		}
	}
	s := r.Stats(now)
	if s.Tracked != most || s.DroppedAll == 0 || bans-before != most/2 {
		t.Errorf("stats %+v, %d bans in the flood; want the roster full of bans", s, bans-before)
	}
}
