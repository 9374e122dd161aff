package abuse

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"
)

// randomRange is a range that often lies in, or around, another.
func randomRange(rng *rand.Rand) netip.Prefix {
	a, widest, narrowest := randomAddr(rng), widestIPv4, 31
	if a.Is6() {
		widest, narrowest = widestIPv6, 63
	}
	p, _ := a.Prefix(widest + rng.IntN(narrowest-widest+1))
	return p
}

func randomAddr(rng *rand.Rand) netip.Addr {
	bits := rng.Uint64() & rng.Uint64() & rng.Uint64() // few ones: many alike
	if rng.IntN(2) == 0 {
		var b [4]byte
		binary.BigEndian.PutUint32(b[:], uint32(bits))
		return netip.AddrFrom4(b)
	}
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], bits|0x2001<<48)
	b[15] = byte(rng.Uint64())
	return netip.AddrFrom16(b)
}

func TestRangesAgainstAScan(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 20 {
		entries := map[netip.Prefix]*entry{}
		for range rng.IntN(400) {
			p := randomRange(rng)
			b := &Ban{Client: p}
			if rng.IntN(10) > 0 {
				b.Until = after(time.Duration(rng.IntN(100)) * time.Minute)
			}
			entries[p] = &entry{client: p, ban: b}
		}
		rs := newRanges(entries)
		found := 0
		for range 2000 {
			a, now := randomAddr(rng), after(time.Duration(rng.IntN(100))*time.Minute)
			var want *Ban
			for p, e := range entries {
				if p.Contains(a) && e.ban.Active(now) {
					want = longer(want, e.ban)
				}
			}
			got := rs.find(a, now)
			if (got == nil) != (want == nil) || got != nil && !got.Until.Equal(want.Until) {
				t.Fatalf("%v at %v: %+v, want %+v", a, now, got, want)
			}
			if want != nil {
				found++
			}
		}
		if len(entries) > 50 && found == 0 {
			t.Error("no address was in any range: this test sees nothing")
		}
	}
}

func TestMostRanges(t *testing.T) {
	r := registry(t, config())
	bans := make([]Ban, 0, MaxRanges-1)
	for n := range MaxRanges - 1 {
		bans = append(bans, Ban{Client: netip.PrefixFrom(netip.AddrFrom4([4]byte{20, byte(n >> 8), byte(n), 0}), 24)})
	}
	if err := r.Restore(bans, start); err != nil {
		t.Fatal(err)
	}
	order(t, r, "30.0.0.0/8", time.Hour, start)
	if _, err := r.Ban(Order{Client: client(t, "31.0.0.0/8"), Permanent: true}, start); err != ErrTooMany {
		t.Errorf("one range too many: %v", err)
	}
	order(t, r, "30.0.0.0/8", time.Minute, start) // changing one is none more
	order(t, r, "31.0.0.0", 0, start)
	order(t, r, "31.0.0.0/8", 0, after(time.Minute)) // in place of one that is over
	wantBanned(t, r, "20.15.254.1", start, 1<<63-1)
}

func TestRangesWithinRanges(t *testing.T) {
	r := registry(t, config())
	order(t, r, "10.0.0.0/8", time.Hour, start)
	order(t, r, "10.1.0.0/16", time.Minute, start)
	order(t, r, "10.1.2.0/24", 2*time.Hour, start)
	order(t, r, "10.1.2.3", time.Second, start)
	f := func(a string, at, want time.Duration) {
		t.Helper()
		wantBanned(t, r, a, after(at), want)
	}
	f("10.9.9.9", 0, time.Hour)
	f("10.1.9.9", 0, time.Hour)
	f("10.1.2.9", 0, 2*time.Hour)
	f("10.1.2.3", 0, 2*time.Hour)
	f("11.0.0.0", 0, 0)
	f("10.1.9.9", 2*time.Minute, 58*time.Minute)
	f("10.1.2.3", 90*time.Minute, 30*time.Minute)
	f("10.9.9.9", time.Hour, 0)
	order(t, r, "10.0.0.0/9", 0, start)
	f("10.1.2.3", 0, 1<<63-1)
	if ok, err := r.Lift(client(t, "10.0.0.0/9"), "op", start); !ok || err != nil {
		t.Fatal(ok, err)
	}
	f("10.1.2.3", 0, 2*time.Hour)
	order(t, r, "2001:db8::/32", time.Hour, start)
	f("2001:db8:ffff::1", 0, time.Hour)
	f("2001:db9::1", 0, 0)
}
