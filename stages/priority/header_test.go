package priority

import (
	"strings"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/pipeline"
)

func TestParseHeader(t *testing.T) {
	const bad = "bad"
	f := func(value, want string) {
		t.Helper()
		got := bad
		if rank, ttl, ok := parseHeader(value); ok {
			got = strings.TrimSpace(rank.String() + " " + strings.TrimSuffix(ttl.String(), "0s"))
		}
		if got != want {
			t.Errorf("%q is read as %q, want %q", value, got, want)
		}
	}
	// Every rank and its own ttl.
	f("guest", "guest")
	f("member", "member 8h0m")
	f("prospect", "prospect 30m")
	f("customer", "customer 8h0m")
	f("subscriber", "subscriber 8h0m")
	f("checkout", "checkout 30m")
	f("staff", "staff 8h0m")
	// Spelling.
	f("  CheckOut\t;  TTL = 45m ", "checkout 45m")
	f("staff;ttl=\"2h\"", "staff 2h0m")
	f("staff; note=vip; ttl=2h; x", "staff 2h0m")
	f("staff; ttl=1h; ttl=2h", "staff 2h0m")
	f("guest, staff", "staff 8h0m")
	f("staff;ttl=2h,guest", "guest")
	// Times.
	f("member; ttl=600", "member 10m")
	f("member; ttl=1h30m", "member 1h30m")
	f("member; ttl=1.5h", "member 1h30m")
	f("member; ttl=5", "member 1m")
	f("member; ttl=0", "member 1m")
	f("member; ttl=-7", "member 1m")
	f("member; ttl=-7h", "member 1m")
	f("member; ttl=86401", "member 24h0m")
	f("member; ttl=99999999999999999999999999", "member 24h0m")
	f("member; ttl=-99999999999999999999999999", "member 1m")
	f("member; ttl=99999999999h", "member 24h0m")
	f("member; ttl=1h99999999999m30s", "member 24h0m")
	// A guest's ttl means nothing.
	f("guest; ttl=x", "guest")
	f("guest; ttl=5m", "guest")
	// Not understood.
	for _, value := range []string{"", " ", ";", "vip", "staff staff", "3", "staff=1", "ttl=5m", "staff,", "staff, ,",
		"staff; ttl", "staff; ttl=", "staff; ttl=x", "staff; ttl=5x", "staff; ttl=5 m", "staff; ttl=--5", "staff; ttl=h",
		"staff; ttl=.h", "staff; ttl=1.2.3h", "staff; ttl=9e99", "staff; ttl=\"", "stäff", "staff\x00"} {
		f(value, bad)
	}
}

// Whatever arrives, a ttl is within its bounds, and a value that is read once
// is read the same with another in front.
func FuzzParseHeader(f *testing.F) {
	for _, seed := range []string{"staff", "checkout; ttl=30m", "guest; ttl=x", "member;ttl=99999999999999h", "a,b;c=d;ttl=\"1\""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		rank, ttl, ok := parseHeader(value)
		switch {
		case rank >= pipeline.NumRanks:
			t.Errorf("%q: rank %d", value, rank)
		case !ok && (rank != pipeline.Guest || ttl != 0):
			t.Errorf("%q: not understood, and yet %v for %v", value, rank, ttl)
		case ok && rank != pipeline.Guest && (ttl < minTTL || ttl > MaxTTL):
			t.Errorf("%q: ttl %v", value, ttl)
		}
		again, againTTL, againOK := parseHeader("staff; ttl=1h, " + value)
		if !strings.Contains(value, ",") && (again != rank || againTTL != ttl || againOK != ok) {
			t.Errorf("%q: read differently behind another: %v %v %v", value, again, againTTL, againOK)
		}
	})
}

func TestParseTTLMatchesGoWhereBothRead(t *testing.T) {
	for _, text := range []string{"1ns", "5us", "5µs", "3ms", "1m1s", "+2h", ".5s", "5.s"} {
		want, err := time.ParseDuration(text)
		if got, ok := parseTTL(text); err != nil || !ok || got != want {
			t.Errorf("%q is %v, %v; want %v, %v", text, got, ok, want, err)
		}
	}
}
