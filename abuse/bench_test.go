package abuse

import (
	"net/netip"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/internal/allocs"
)

// crowded is a registry with 100,000 clients on the roster, half of them
// banned, and 4,096 ranges.
func crowded(tb testing.TB) *Registry {
	tb.Helper()
	r := registry(tb, config())
	var bans []Ban
	for n := range MaxRanges {
		bans = append(bans, Ban{Client: netip.PrefixFrom(netip.AddrFrom4([4]byte{20, byte(n >> 8), byte(n), 0}), 24), Until: after(time.Hour)})
	}
	if err := r.Restore(bans, start); err != nil {
		tb.Fatal(err)
	}
	for n := range 100_000 {
		if n%2 == 0 {
			r.Trap(numbered(n), "/.env", start)
		} else {
			r.Strike(numbered(n), "churn", 1, start)
		}
	}
	return r
}

func lookups() map[string]netip.Addr {
	return map[string]netip.Addr{
		"free":    addr("203.0.113.9"),
		"free6":   addr("2001:db8::1"),
		"struck":  numbered(77_777),
		"banned":  numbered(77_778),
		"inRange": addr("20.3.7.9"),
	}
}

func TestLookupAllocatesNothing(t *testing.T) {
	r := crowded(t)
	for name, a := range lookups() {
		if n := allocs.PerRun(1000, func() { r.Lookup(a, start) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestStrikingAgainAllocatesNothing(t *testing.T) {
	r := registry(t, config())
	now := start
	strike := func() {
		now = now.Add(10 * time.Second) // six in a window: never banned
		r.Strike(addr("203.0.113.9"), "churn", 1, now)
	}
	for range 10 {
		strike()
	}
	if n := allocs.PerRun(1000, strike); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkLookup(b *testing.B) {
	r := crowded(b)
	for name, a := range lookups() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r.Lookup(a, start)
			}
		})
	}
	b.Run("parallel", func(b *testing.B) {
		banned := numbered(77_778)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				r.Lookup(banned, start)
			}
		})
	})
}

// BenchmarkStrike is the cost of strikes from ever new clients against a full
// roster: each takes another's place.
func BenchmarkStrike(b *testing.B) {
	r := crowded(b)
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		n++
		r.Strike(numbered(200_000+n%1_000_000), "churn", 1, start)
	}
}

func BenchmarkTrap(b *testing.B) {
	r := registry(b, config())
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		n++
		r.Trap(numbered(n%50_000), "/.env", after(time.Duration(n)*time.Millisecond))
	}
}

func BenchmarkList(b *testing.B) {
	r := crowded(b)
	for b.Loop() {
		r.List(Filter{}, start)
	}
}
