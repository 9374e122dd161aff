package abuse

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestEventsTellTheStory(t *testing.T) {
	c := config()
	r := registry(t, c)
	var told []string
	r.Subscribe(func(e Event) {
		line := fmt.Sprintf("%v %v %d %v", e.Kind, e.Ban.Client, e.Ban.Offenses, e.At.Sub(start))
		if e.Before != nil {
			line += " replaces " + e.Before.Cause
		}
		if e.By != "" {
			line += " by " + e.By
		}
		told = append(told, line)
	})
	f := func(what string, do func(), want ...string) {
		t.Helper()
		told = nil
		if do(); !slices.Equal(told, want) {
			t.Errorf("%s: told\n  %s\nwant\n  %s", what, strings.Join(told, "\n  "), strings.Join(want, "\n  "))
		}
	}
	a, b := "203.0.113.9", "198.51.100.7"
	f("a strike", func() { r.Strike(addr(a), "churn", 1, start) })
	f("the last strike", func() { r.Strike(addr(a), "churn", 19, start) }, "banned 203.0.113.9/32 1 0s")
	f("a strike while banned", func() { r.Strike(addr(a), "churn", 19, start) })
	f("an operator", func() { order(t, r, a, time.Minute, after(time.Second)) },
		"banned 203.0.113.9/32 1 1s replaces churn")
	f("a range", func() { order(t, r, "10.0.0.0/8", time.Minute, after(2*time.Second)) }, "banned 10.0.0.0/8 1 2s")
	f("time", func() { r.Sweep(after(time.Hour)) }, "ended 203.0.113.9/32 1 1m1s", "ended 10.0.0.0/8 1 1m2s")
	f("again", func() { r.Trap(addr(a), "/.env", after(time.Hour)) }, "banned 203.0.113.9/32 2 1h0m0s")
	f("a lift", func() { _, _ = r.Lift(client(t, a), "op", after(time.Hour)) }, "lifted 203.0.113.9/32 2 1h0m0s by op")
	f("another", func() { r.Trap(addr(b), "/.env", after(time.Hour)) }, "banned 198.51.100.7/32 1 1h0m0s")
	f("forgetting by hand", func() { _, _ = r.Lift(client(t, b), "op", after(2*time.Hour)) },
		"ended 198.51.100.7/32 1 1h5m0s", "forgotten 198.51.100.7/32 1 2h0m0s by op")
	f("strikes lifted", func() {
		r.Strike(addr(a), "churn", 1, after(2*time.Hour))
		_, _ = r.Lift(client(t, a), "op", after(2*time.Hour))
	})
	f("an exemption", func() {
		order(t, r, b, 0, after(2*time.Hour))
		c.Allow = trust(t, b)
		if err := r.Apply(c, after(3*time.Hour)); err != nil {
			t.Error(err)
		}
	}, "banned 198.51.100.7/32 1 2h0m0s", "lifted 198.51.100.7/32 1 3h0m0s by exemption")
	f("a long time", func() {
		r.Trap(addr(a), "/.env", after(3*time.Hour))
		r.Strike(addr(a), "churn", 1, after(28*time.Hour))
	}, "banned 203.0.113.9/32 1 3h0m0s", "ended 203.0.113.9/32 1 3h5m0s", "forgotten 203.0.113.9/32 1 28h0m0s")
}

// A subscriber is told before the call that caused the event returns, one event
// at a time, and may read the registry.
func TestSubscribersAreToldInOrder(t *testing.T) {
	const clients = 200
	r := registry(t, config())
	var inside atomic.Int32
	var told []netip.Prefix
	r.Subscribe(func(e Event) {
		if inside.Add(1) != 1 {
			t.Error("two events are told at once")
		}
		told = append(told, e.Ban.Client)
		if r.Lookup(e.Ban.Client.Addr(), start) != e.Ban || r.Stats(start).Tracked < len(told) || len(r.List(Filter{}, start)) < len(told) {
			t.Errorf("%v: the registry does not know of it yet", e.Ban.Client)
		}
		r.Snapshot(start)
		inside.Add(-1)
	})
	var seen sync.Map
	r.Subscribe(func(e Event) { seen.Store(e.Ban.Client, true) })
	var wg sync.WaitGroup
	for n := range clients {
		wg.Go(func() {
			r.Trap(numbered(n), "/.env", start)
			if _, ok := seen.Load(keyOf(numbered(n))); !ok {
				t.Errorf("client %d: Trap returned before the event was told", n)
			}
		})
	}
	wg.Wait()
	slices.SortFunc(told, netip.Prefix.Compare)
	if len(slices.Compact(told)) != clients {
		t.Errorf("%d events, want one for each of %d clients", len(told), clients)
	}
}

// However many requests come at once, the limit is met exactly.
func TestLimitsAreExactUnderConcurrency(t *testing.T) {
	c := config()
	c.Strikes = 1000
	r := registry(t, c)
	strike := func(times int) {
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				for range times / 10 {
					r.Strike(addr("203.0.113.9"), "churn", 1, start)
				}
			})
		}
		wg.Wait()
	}
	strike(990)
	for range 9 {
		r.Strike(addr("203.0.113.9"), "churn", 1, start)
	}
	wantBanned(t, r, "203.0.113.9", start, 0)
	r.Strike(addr("203.0.113.9"), "churn", 1, start)
	wantBanned(t, r, "203.0.113.9", start, 5*time.Minute)
	if s := r.Stats(start); s.StrikesAll != 1000 || s.BansAll != 1 {
		t.Errorf("stats %+v", s)
	}
}
