package abuse

import (
	"testing"
	"time"
)

func TestLadder(t *testing.T) {
	c := config()
	c.Cooldown, c.MaxCooldown = time.Second, 8*time.Second
	r := registry(t, c)
	now := start
	for i := range 70 {
		want := []time.Duration{1, 2, 4, 8}[min(i, 3)] * time.Second
		b := r.Trap(addr("203.0.113.9"), "/.env", now)
		if got := b.Remaining(now); got != want || b.Offenses != i+1 {
			t.Fatalf("ban %d: %v, offense %d; want %v", i+1, got, b.Offenses, want)
		}
		now = b.Until
	}
}

func TestEscalationNeverOverflows(t *testing.T) {
	const most = time.Duration(1<<63 - 1)
	f := func(first, cap time.Duration, n int, want time.Duration) {
		t.Helper()
		if got := escalate(first, cap, n); got != want {
			t.Errorf("ban %d from %v up to %v: %v, want %v", n, first, cap, got, want)
		}
	}
	f(time.Minute, time.Minute, 1, time.Minute)
	f(time.Minute, time.Minute, 1000, time.Minute)
	f(5*time.Minute, 24*time.Hour, 9, 1280*time.Minute)
	f(5*time.Minute, 24*time.Hour, 10, 24*time.Hour)
	f(1, most, 63, 1<<62)
	f(1, most, 64, most)
	f(most-1, most, 1<<40, most)
}

func TestHistoryIsForgotten(t *testing.T) {
	c := config()
	c.MaxCooldown = time.Hour
	offense := func(gap time.Duration, between func(r *Registry, now time.Time)) int {
		r := registry(t, c)
		end := r.Trap(addr("203.0.113.9"), "/.env", start).Until
		if between != nil {
			between(r, end.Add(gap))
		}
		return r.Trap(addr("203.0.113.9"), "/.env", end.Add(gap)).Offenses
	}
	sweep := func(r *Registry, now time.Time) { r.Sweep(now) }
	struck := func(r *Registry, now time.Time) {
		r.Strike(addr("203.0.113.9"), "churn", 1, now.Add(-time.Second))
		r.Sweep(now)
	}
	f := func(name string, gap time.Duration, between func(*Registry, time.Time), want int) {
		t.Helper()
		if got := offense(gap, between); got != want {
			t.Errorf("%s: offense %d, want %d", name, got, want)
		}
	}
	f("at once", 0, nil, 2)
	f("in time", time.Hour, nil, 2)
	f("in time, swept", time.Hour, sweep, 2)
	f("late", time.Hour+1, nil, 1)
	f("late, swept", time.Hour+1, sweep, 1)
	f("late, struck a second ago", time.Hour+1, struck, 2)
}

func TestLiftForgetsTheHistory(t *testing.T) {
	r := registry(t, config())
	a, who := addr("203.0.113.9"), client(t, "203.0.113.9")
	now := r.Trap(a, "/.env", start).Until
	if d := r.Trap(a, "/.env", now).Remaining(now); d != 10*time.Minute {
		t.Fatalf("second ban: %v", d)
	}
	if ok, err := r.Lift(who, "op", now); !ok || err != nil {
		t.Fatal(ok, err)
	}
	wantBanned(t, r, "203.0.113.9", now, 0)
	if d := r.Trap(a, "/.env", now).Remaining(now); d != 5*time.Minute {
		t.Errorf("after the lift: %v, want the first length", d)
	}
	_, _ = r.Lift(who, "op", now)
	r.Strike(a, "churn", 19, now)
	if ok, _ := r.Lift(who, "op", now); !ok {
		t.Error("strikes of a client that is not banned cannot be forgotten")
	}
	r.Strike(a, "churn", 19, now)
	wantBanned(t, r, "203.0.113.9", now, 0)
	if ok, err := r.Lift(client(t, "198.51.100.1"), "op", now); ok || err != nil {
		t.Errorf("a client that is not tracked: %v, %v", ok, err)
	}
}
