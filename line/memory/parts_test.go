package memory

import (
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"
	"unsafe"

	"github.com/andreimerlescu/concert/line"
)

func TestTicketIsOneCacheLine(t *testing.T) {
	if got := unsafe.Sizeof(ticket{}); got != 64 {
		t.Errorf("a ticket has %d bytes, want 64", got)
	}
}

// TestWheel has every ticket lapse at its due time, a tick later at most,
// whatever was set before, and under a budget.
func TestWheel(t *testing.T) {
	var s slab
	w := &wheel{slab: &s}
	rnd := rand.New(rand.NewPCG(1, 1))
	due := make(map[int32]instant)
	now := instant(0)
	lapsed := func(n instant, i int32) {
		if due[i] > n {
			t.Fatalf("due at %d, lapsed at %d", due[i], n)
		}
		delete(due, i)
	}
	for step := range 20000 {
		switch x := rnd.IntN(10); {
		case x < 3:
			i := s.alloc()
			due[i] = now.add(time.Duration(rnd.Int64N(int64(5 * time.Minute))))
			w.set(i, due[i])
		case x < 5:
			for i := range due { // any one
				due[i] = now.add(time.Duration(rnd.Int64N(int64(time.Minute))))
				w.set(i, due[i])
				break
			}
		case x < 6:
			for i := range due {
				w.unlink(i)
				w.unlink(i) // not filed: nothing
				delete(due, i)
				break
			}
		default:
			now = now.add(time.Duration(rnd.Int64N(int64(time.Second))))
			if step%1000 == 0 {
				now = now.add(time.Duration(rnd.Int64N(int64(time.Hour))))
			}
			for w.drain(now, 7, lapsed) {
			}
			for i, d := range due {
				if now.since(d) >= tickLength {
					t.Fatalf("ticket %d, due at %d, has not lapsed at %d", i, d, now)
				}
			}
		}
		if w.count != len(due) {
			t.Fatalf("%d filed, want %d", w.count, len(due))
		}
	}
}

func TestWheelNext(t *testing.T) {
	var s slab
	w := &wheel{slab: &s}
	if got := w.next(1000); got != 1000 {
		t.Errorf("empty: next %d, want the limit", got)
	}
	due := instant(3 * time.Second)
	w.set(s.alloc(), due)
	got := w.next(instant(time.Minute))
	if got < due || got.since(due) > tickLength {
		t.Errorf("next %v, want %v or a tick later", time.Duration(got), time.Duration(due))
	}
	if limit := instant(time.Second); w.next(limit) != limit {
		t.Errorf("next %v, want the limit", time.Duration(w.next(limit)))
	}
}

// TestBucketIsExact counts admissions over a long time, in odd steps, at a
// rate whose interval no whole number of nanoseconds divides.
func TestBucketIsExact(t *testing.T) {
	var b bucket
	b.configure(0, line.Policy{Inflow: 7, Interval: time.Second, Burst: 1})
	b.take() // it starts full
	n, got := instant(0), 0
	for n < instant(time.Hour) {
		n = min(b.next(), n.add(7777*time.Microsecond), instant(time.Hour))
		for b.permits(n) > 0 {
			b.take()
			got++
		}
	}
	if want := 7 * 3600; got != want {
		t.Errorf("%d permits in an hour, want %d", got, want)
	}
}

func TestBucketChanges(t *testing.T) {
	var b bucket
	policy := func(n, burst int, d time.Duration) line.Policy {
		return line.Policy{Inflow: n, Interval: d, Burst: burst}
	}
	at := instant(time.Minute)
	b.configure(at, policy(10, 0, time.Second))
	if got := b.permits(at); got != 10 {
		t.Fatalf("a burst of 0 allows %d, want the inflow", got)
	}
	for range 8 {
		b.take()
	}
	b.configure(at, policy(100, 50, time.Minute))
	if got := b.permits(at); got != 2 {
		t.Errorf("after a change %d permits, want the 2 that were left", got)
	}
	b.configure(at, policy(100, 1, time.Minute))
	if got := b.permits(at); got != 1 {
		t.Errorf("under a smaller burst %d permits, want 1", got)
	}
	b.configure(at, line.Policy{})
	if got := b.permits(at); got < 1<<30 {
		t.Errorf("without a limit %d permits", got)
	}
	b.configure(at, policy(1<<30, 1<<30, 24*time.Hour)) // no overflow
	if got := b.permits(at.add(1 << 60)); got < 1 {
		t.Errorf("a huge limit allows %d", got)
	}
}

func TestClient(t *testing.T) {
	for _, p := range []string{"192.0.2.1/32", "10.0.0.0/8", "0.0.0.0/0", "2001:db8:1:2::/64", "::/0", "2001:db8::1/128"} {
		want := netip.MustParsePrefix(p)
		c := clientOf(want)
		if got := c.prefix(); got != want {
			t.Errorf("%v comes back as %v", want, got)
		}
		for _, q := range []string{"192.0.2.0/24", "10.1.2.3/32", "2001:db8::/32", "0.0.0.0/0", "::/0", "2001:db8:1:2::/64"} {
			in := netip.MustParsePrefix(q)
			k := clientOf(in)
			if got, want := k.within(&c), want.Bits() <= in.Bits() && want.Contains(in.Addr()); got != want {
				t.Errorf("%v within %v: %v, want %v", q, p, got, want)
			}
		}
	}
	none := clientOf(netip.Prefix{})
	if all := clientOf(netip.MustParsePrefix("::/0")); none.prefix().IsValid() || none.within(&all) {
		t.Error("no client is a client")
	}
}

func TestSlots(t *testing.T) {
	var s slots
	a, b := s.take(0), s.take(5)
	if held, ok := s.give(7, a); !ok || held != 7 {
		t.Errorf("given back after %v, %v", held, ok)
	}
	if _, ok := s.give(8, a); ok {
		t.Error("given back twice")
	}
	c := s.take(9)
	if _, ok := s.give(9, a); ok || c == a {
		t.Error("an old slot is taken for a new one")
	}
	for _, bad := range []line.Slot{0, 1 << 40, 1<<32 | 99, b + 2<<32} {
		if _, ok := s.give(9, bad); ok {
			t.Errorf("slot %#x was never given", uint64(bad))
		}
	}
	if s.out != 2 {
		t.Errorf("%d out, want 2", s.out)
	}
}

// TestServiceTime has the estimate follow holds that are longer and shorter,
// and a stall.
func TestServiceTime(t *testing.T) {
	const slots = 10
	var m meter
	m.start(slots)
	now := instant(0)
	run := func(hold, d time.Duration) { // all slots out, and given back in turn
		each := hold / slots
		for end := now.add(d); now < end; {
			now = now.add(each)
			m.advance(now, slots, true, slots)
			m.ended(hold)
			m.granted(now, true)
		}
	}
	want := func(low, high time.Duration) {
		t.Helper()
		if got := time.Duration(m.serviceTime(now, true)); got < low || got > high {
			t.Errorf("service time %v, want %v to %v", got, low, high)
		}
	}
	run(100*time.Millisecond, 5*time.Second)
	want(95*time.Millisecond, 105*time.Millisecond)
	run(400*time.Millisecond, 5*time.Second)
	want(360*time.Millisecond, 440*time.Millisecond)
	run(50*time.Millisecond, 8*time.Second)
	want(45*time.Millisecond, 60*time.Millisecond)
	now = now.add(10 * time.Second) // nothing ends
	m.advance(now, slots, true, slots)
	want(10*time.Second, time.Hour)
	if got := time.Duration(m.steadyTime(now)); got > 60*time.Millisecond {
		t.Errorf("steady service time %v in a stall, want as before", got)
	}
	run(50*time.Millisecond, 2*time.Second)
	want(45*time.Millisecond, 150*time.Millisecond)
	if got := m.drainRate() * 1e9; got < 50 || got > 250 {
		t.Errorf("drain rate %v a second", got)
	}
}

func TestLearnGap(t *testing.T) {
	const s = time.Second
	for _, tt := range []struct {
		name     string
		asked    []time.Duration
		seen     []time.Duration
		obedient bool
		own      bool
	}{
		{"obeys", []time.Duration{10 * s, 4 * s, 2 * s}, []time.Duration{10*s + 50, 4 * s, 2*s + s/10}, true, false},
		{"own pace", []time.Duration{10 * s, 8 * s, 5 * s}, []time.Duration{3 * s, 3*s + s/10, 3 * s}, true, true},
		{"own pace by chance as told", []time.Duration{10 * s, 3 * s}, []time.Duration{3 * s, 3 * s}, false, true},
		{"as told in a crowd with a pace", []time.Duration{10 * s, 4 * s}, []time.Duration{10 * s, 4 * s}, false, false},
		{"first poll, as the crowd", []time.Duration{3 * s}, []time.Duration{3 * s}, false, true},
	} {
		var k ticket
		for n, asked := range tt.asked {
			k.asked = millis(asked)
			learnGap(&k, tt.seen[n], tt.obedient)
		}
		if got := k.has(flagOwnPace); got != tt.own {
			t.Errorf("%s: own pace %v, want %v", tt.name, got, tt.own)
		}
	}
}
