package abuse

import (
	"net/netip"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/clientip"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// after is a time of the tests' clock.
func after(d time.Duration) time.Time { return start.Add(d) }

// config is the default configuration.
func config() Config {
	return Config{
		Enabled: true, Strikes: 20, Window: time.Minute, Cooldown: 5 * time.Minute,
		MaxCooldown: 24 * time.Hour, MaxEntries: 100_000,
	}
}

func registry(t testing.TB, c Config) *Registry {
	t.Helper()
	r, err := New(c, start)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func trust(t testing.TB, list string) *clientip.Trust {
	t.Helper()
	set, err := clientip.ParseTrust(list)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func addr(s string) netip.Addr { return netip.MustParseAddr(s) }

func client(t testing.TB, s string) netip.Prefix {
	t.Helper()
	p, err := ParseClient(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// order bans a client as an operator does; d 0 is permanent.
func order(t testing.TB, r *Registry, who string, d time.Duration, now time.Time) *Ban {
	t.Helper()
	b, err := r.Ban(Order{Client: client(t, who), For: d, Permanent: d == 0, By: "op"}, now)
	if err != nil {
		t.Fatalf("ban %s: %v", who, err)
	}
	return b
}

// wantBanned checks how long the address is still banned: 0 is not at all.
func wantBanned(t testing.TB, r *Registry, a string, now time.Time, want time.Duration) {
	t.Helper()
	var got time.Duration
	if b := r.Lookup(addr(a), now); b != nil {
		got = b.Remaining(now)
	}
	if got != want {
		t.Errorf("%s at %v: banned for %v, want %v", a, now.Sub(start), got, want)
	}
}
