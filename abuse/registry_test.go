package abuse

import (
	"fmt"
	"net/netip"
	"testing"
	"time"
)

func TestStrikesUpToTheLimit(t *testing.T) {
	r := registry(t, config())
	for i := range 4 {
		wantBanned(t, r, "203.0.113.9", start, 0)
		r.Strike(addr("203.0.113.9"), "forged-pass", 5, after(time.Duration(i)*time.Second))
	}
	now := after(3 * time.Second)
	wantBanned(t, r, "203.0.113.9", now, 5*time.Minute)
	wantBanned(t, r, "203.0.113.10", now, 0)
	wantBanned(t, r, "203.0.113.9", now.Add(5*time.Minute-1), 1)
	wantBanned(t, r, "203.0.113.9", now.Add(5*time.Minute), 0)
	b := r.Lookup(addr("203.0.113.9"), now)
	if b.Cause != "forged-pass" || b.Offenses != 1 || b.By != "" || b.Permanent() || b.Range() {
		t.Errorf("ban %+v", b)
	}
}

// Strikes on both sides of a boundary between two fixed windows are one burst.
func TestNoBoundaryToHideBehind(t *testing.T) {
	r := registry(t, config())
	for range 19 {
		r.Strike(addr("203.0.113.9"), "churn", 1, after(59*time.Second))
	}
	wantBanned(t, r, "203.0.113.9", after(61*time.Second), 0)
	r.Strike(addr("203.0.113.9"), "churn", 1, after(61*time.Second))
	wantBanned(t, r, "203.0.113.9", after(61*time.Second), 5*time.Minute)
}

func TestActsOfTheBannedDoNotEscalate(t *testing.T) {
	r := registry(t, config())
	a := addr("203.0.113.9")
	r.Trap(a, "/.env", start)
	for range 100 {
		r.Strike(a, "churn", 5, after(time.Second))
	}
	if b := r.Trap(a, "/.git/", after(time.Second)); b.Offenses != 1 || b.Note != "/.env" {
		t.Errorf("ban %+v, want the first one", b)
	}
	wantBanned(t, r, "203.0.113.9", after(time.Second), 5*time.Minute-time.Second)
	r.Strike(a, "churn", 19, after(5*time.Minute))
	wantBanned(t, r, "203.0.113.9", after(5*time.Minute), 0) // strikes during the ban do not count after it
}

// A ban pays for the strikes that led to it, also when it is shorter than the
// window.
func TestABanStartsTheCountAnew(t *testing.T) {
	c := config()
	c.Cooldown = time.Second
	r := registry(t, c)
	r.Strike(addr("203.0.113.9"), "churn", 20, start)
	wantBanned(t, r, "203.0.113.9", start, time.Second)
	r.Strike(addr("203.0.113.9"), "churn", 19, after(time.Second))
	wantBanned(t, r, "203.0.113.9", after(time.Second), 0)
	r.Strike(addr("203.0.113.9"), "churn", 1, after(time.Second))
	wantBanned(t, r, "203.0.113.9", after(time.Second), 2*time.Second)
}

func TestSweepEmptiesTheRoster(t *testing.T) {
	r := registry(t, config())
	r.Strike(addr("203.0.113.1"), "churn", 1, start)
	r.Trap(addr("203.0.113.2"), "/.env", start)
	order(t, r, "203.0.113.3", 0, start)
	order(t, r, "10.0.0.0/8", time.Minute, start)
	f := func(at time.Duration, tracked, ranges int) {
		t.Helper()
		r.Sweep(after(at))
		if s := r.Stats(after(at)); s.Tracked != tracked || s.RangeBans != ranges {
			t.Errorf("at %v: %d clients, %d ranges; want %d, %d", at, s.Tracked, s.RangeBans, tracked, ranges)
		}
	}
	f(0, 3, 1)
	f(time.Minute, 2, 0)
	f(24*time.Hour+5*time.Minute, 2, 0)
	f(24*time.Hour+5*time.Minute+1, 1, 0)
	f(1000*time.Hour, 1, 0)
	if r.single.bans != 1 || r.wide.Load() != nil {
		t.Errorf("%d clients are found by the look-up, and ranges %v", r.single.bans, r.wide.Load())
	}
}

func TestIPv6ClientsAreTheir64(t *testing.T) {
	r := registry(t, config())
	for i := range 20 {
		r.Strike(addr(fmt.Sprintf("2001:db8:1:2::%x", i+1)), "churn", 1, start)
	}
	wantBanned(t, r, "2001:db8:1:2:ffff::9", start, 5*time.Minute)
	wantBanned(t, r, "2001:db8:1:3::1", start, 0)
	for _, who := range []string{"2001:db8:1:2::/64", "2001:db8:1:2::9"} {
		if ok, err := r.Lift(client(t, who), "op", start); !ok || err != nil {
			t.Fatalf("lift %s: %v, %v", who, ok, err)
		}
		wantBanned(t, r, "2001:db8:1:2::1", start, 0)
		order(t, r, "2001:db8:1:2::77", time.Hour, start)
	}
}

func TestOperatorsBan(t *testing.T) {
	r := registry(t, config())
	r.Trap(addr("203.0.113.9"), "/.env", start)
	f := func(d time.Duration, offenses int, want time.Duration) {
		t.Helper()
		if b := order(t, r, "203.0.113.9", d, after(time.Second)); b.Offenses != offenses || b.Cause != CauseOperator || b.By != "op" {
			t.Errorf("ban %+v, want offense %d", b, offenses)
		}
		wantBanned(t, r, "203.0.113.9", after(time.Second), want)
	}
	f(time.Hour, 1, time.Hour) // replaced, not counted again
	f(time.Minute, 1, time.Minute)
	f(0, 1, 1<<63-1)
	wantBanned(t, r, "203.0.113.9", after(1e6*time.Hour), 1<<63-1)
	f(time.Minute, 1, time.Minute)
	if b := order(t, r, "203.0.113.9", time.Minute, after(time.Hour)); b.Offenses != 2 {
		t.Errorf("offense %d after the first was over, want 2", b.Offenses)
	}
	for _, d := range []time.Duration{0, -1} {
		if _, err := r.Ban(Order{Client: client(t, "203.0.113.9"), For: d}, start); err == nil {
			t.Errorf("a ban for %v was made", d)
		}
	}
}

func TestOffAndOn(t *testing.T) {
	r := registry(t, config())
	r.Trap(addr("203.0.113.9"), "/.env", start)
	off := config()
	off.Enabled = false
	if err := r.Apply(off, start); err != nil || r.Enabled() {
		t.Fatal(err, r.Enabled())
	}
	wantBanned(t, r, "203.0.113.9", start, 0)
	r.Strike(addr("203.0.113.10"), "churn", 100, start)
	if r.Trap(addr("203.0.113.10"), "/.env", start) != nil {
		t.Error("a ban path is refused while the registry is off")
	}
	if err := r.Apply(config(), after(time.Minute)); err != nil {
		t.Fatal(err)
	}
	wantBanned(t, r, "203.0.113.9", after(time.Minute), 4*time.Minute)
	wantBanned(t, r, "203.0.113.10", after(time.Minute), 0)
}

func TestConfigIsChecked(t *testing.T) {
	r := registry(t, config())
	f := func(change func(*Config), problems int) {
		t.Helper()
		c := config()
		change(&c)
		_, err := New(c, start)
		joined, ok := err.(interface{ Unwrap() []error })
		if !ok || len(joined.Unwrap()) != problems {
			t.Errorf("%+v: %v, want %d problems", c, err, problems)
		}
		if r.Apply(c, start) == nil {
			t.Errorf("%+v was applied", c)
		}
	}
	f(func(c *Config) { c.Strikes = 0 }, 1)
	f(func(c *Config) { c.Window = 0 }, 1)
	f(func(c *Config) { c.MaxEntries = -1 }, 1)
	f(func(c *Config) { c.Cooldown = 25 * time.Hour }, 1)
	f(func(c *Config) { *c = Config{MaxCooldown: -1} }, 5)
}

// A connection over a Unix socket has no client address: there is nobody to
// ban, but a ban path is a ban path.
func TestNobody(t *testing.T) {
	r := registry(t, config())
	var nobody netip.Addr
	r.Strike(nobody, "churn", 100, start)
	if r.Lookup(nobody, start) != nil || r.Exempt(nobody) {
		t.Error("nobody is banned, or exempt")
	}
	if b := r.Trap(nobody, "/.env", start); b == nil || b.Remaining(start) != 5*time.Minute {
		t.Errorf("a ban path: %+v", b)
	}
	if s := r.Stats(start); s != (Stats{}) {
		t.Errorf("stats %+v", s)
	}
}

func TestNotesAreShortAndValid(t *testing.T) {
	f := func(path, want string) {
		t.Helper()
		r := registry(t, config())
		if got := r.Trap(addr("203.0.113.9"), path, start).Note; got != want {
			t.Errorf("note %q, want %q", got, want)
		}
	}
	long := "/.env/"
	for len(long) < maxNote {
		long += "x"
	}
	f("/.env", "/.env")
	f(long+"tail", long)
	f(long[:maxNote-1]+"é", long[:maxNote-1])
	f("/\xff", "/\uFFFD")
	f("/\xff"+long, "/\uFFFD"+long[:maxNote-2])
}
