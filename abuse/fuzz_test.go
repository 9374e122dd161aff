package abuse

import (
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/clientip"
)

// pool is who the fuzzed registry has to do with: neighbours in a /64 and in
// ranges, and more clients than the roster takes.
var pool = struct {
	addrs  []netip.Addr
	ranges []netip.Prefix
}{
	addrs: []netip.Addr{
		addr("10.0.0.1"), addr("10.0.0.2"), addr("10.0.1.1"), addr("10.1.0.1"), addr("11.0.0.1"), addr("11.0.0.2"),
		addr("2001:db8:0:1::1"), addr("2001:db8:0:1::2"), addr("2001:db8:0:2::1"), addr("2001:db8:1::1"), addr("2001:db9::1"),
	},
	ranges: []netip.Prefix{
		netip.MustParsePrefix("10.0.0.0/31"), netip.MustParsePrefix("10.0.0.0/24"), netip.MustParsePrefix("10.0.0.0/16"),
		netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::/63"), netip.MustParsePrefix("2001:db8::/32"),
	},
}

// fuzzed is a registry beside its model, and a journal kept from its events.
type fuzzed struct {
	t       *testing.T
	r       *Registry
	m       *model
	now     time.Time
	journal map[netip.Prefix]*Ban
}

func newFuzzed(t *testing.T, c Config) *fuzzed {
	f := &fuzzed{t: t, m: newModel(c), now: start}
	f.begin(c)
	return f
}

// begin starts a new registry.
func (f *fuzzed) begin(c Config) {
	r, err := New(c, f.now)
	if err != nil {
		f.t.Fatal(err)
	}
	f.r, f.journal = r, map[netip.Prefix]*Ban{}
	r.Subscribe(func(e Event) {
		switch {
		case e.Kind == Banned:
			f.journal[e.Ban.Client] = e.Ban
		case e.Kind != Ended || e.Ban.Range():
			delete(f.journal, e.Ban.Client)
		}
	})
}

// fuzzConfig is one of 32 configurations.
func fuzzConfig(n byte) Config {
	lists := []string{"", "10.0.0.1", "2001:db8:0:1::2,10.0.1.0/24", "2001:db8::/32,11.0.0.1"}
	allow, err := clientip.ParseTrust(lists[n%4])
	if err != nil {
		panic(err)
	}
	return Config{
		Enabled: n%8 < 7, Strikes: 3 + int(n/4%3), Window: 10 * time.Second, Cooldown: 7 * time.Second,
		MaxCooldown: time.Minute, MaxEntries: 2 + int(n/8%4), Proxies: allow,
	}
}

// do takes one operation off the script.
func (f *fuzzed) do(op, x, y byte) {
	// No two operations happen at one moment, so that no two bans end at one.
	f.now = f.now.Add(time.Nanosecond)
	a := pool.addrs[int(x)%len(pool.addrs)]
	target := keyOf(a)
	if y%3 == 0 {
		target = pool.ranges[int(x)%len(pool.ranges)]
	}
	switch op % 10 {
	case 0, 1, 9:
		weight := 1 + int(y%3)
		f.r.Strike(a, "act", weight, f.now)
		f.m.strike(a, weight, f.now)
	case 2:
		f.r.Trap(a, "", f.now)
		f.m.trap(a, f.now)
	case 3:
		d := time.Duration(y%8) * 5 * time.Second // 0: permanent
		if _, err := f.r.Ban(Order{Client: target, For: d, Permanent: d == 0}, f.now); err != nil && err != ErrExempt {
			f.t.Fatal(err)
		}
		f.m.order(target, d, f.now)
	case 4:
		if _, err := f.r.Lift(target, "op", f.now); err != nil {
			f.t.Fatal(err)
		}
		f.m.lift(target, f.now)
	case 5:
		f.now = f.now.Add(time.Duration(x) * time.Duration(x) * time.Millisecond) // up to 65s, mostly less
	case 6:
		f.r.Sweep(f.now)
		f.m.sweep(f.now)
	case 7:
		if err := f.r.Apply(fuzzConfig(x), f.now); err != nil {
			f.t.Fatal(err)
		}
		f.m.apply(fuzzConfig(x), f.now)
	case 8:
		f.restart()
	}
}

// restart carries the registry over to another process.
func (f *fuzzed) restart() {
	f.r.Sweep(f.now)
	saved := f.r.Snapshot(f.now)
	f.begin(f.m.Config)
	if err := f.r.Restore(saved, f.now); err != nil {
		f.t.Fatal(err)
	}
	for _, b := range f.r.Snapshot(f.now) {
		f.journal[b.Client] = &b
	}
	f.m.restart(f.now)
}

// compare holds the registry against the model.
func (f *fuzzed) compare() {
	f.t.Helper()
	for _, a := range pool.addrs {
		got, want := f.r.Lookup(a, f.now), f.m.lookup(a, f.now)
		if (got == nil) != (want == nil) {
			f.t.Fatalf("%v at %v: %+v, want %+v", a, f.now.Sub(start), got, want)
		}
		if got == nil || got.Permanent() && want.Permanent() {
			continue // of several permanent bans any is right
		}
		if got.Client != want.Client || !got.Until.Equal(want.Until) || got.Offenses != want.Offenses || got.Cause != want.Cause {
			f.t.Fatalf("%v at %v: %+v, want %+v", a, f.now.Sub(start), got, want)
		}
	}
	s := f.r.Stats(f.now)
	if s.Tracked != f.m.clients() || s.DroppedAll != f.m.missed {
		f.t.Fatalf("at %v: %d clients and %d acts dropped, want %d and %d", f.now.Sub(start), s.Tracked, s.DroppedAll, f.m.clients(), f.m.missed)
	}
	f.checkJournal()
}

// checkJournal: the events so far tell what a snapshot does.
func (f *fuzzed) checkJournal() {
	f.t.Helper()
	saved := f.r.Snapshot(f.now)
	told := 0
	for _, b := range f.journal {
		if !b.Range() || b.Active(f.now) {
			told++
		}
	}
	if told != len(saved) {
		f.t.Fatalf("at %v: the journal knows %d clients, the snapshot %d", f.now.Sub(start), told, len(saved))
	}
	for _, b := range saved {
		if j := f.journal[b.Client]; j == nil || *j != b {
			f.t.Fatalf("at %v: the journal has %+v, the snapshot %+v", f.now.Sub(start), j, b)
		}
	}
}

// FuzzRegistry plays a script of operations, three bytes each, against the
// registry and its model.
func FuzzRegistry(f *testing.F) {
	f.Add(byte(0), []byte("\x00\x00\x02\x00\x00\x02\x05\x20\x00\x06\x00\x00"))
	f.Add(byte(3), []byte("\x02\x06\x00\x05\x1d\x00\x02\x06\x00\x08\x00\x00\x02\x06\x00"))
	f.Add(byte(9), []byte("\x02\x00\x00\x02\x02\x00\x02\x04\x00\x02\x05\x00\x07\x01\x00\x03\x03\x00\x04\x03\x00"))
	f.Add(byte(53), []byte("000000z107\xf401107X0000")) // old at the restart, struck lately
	f.Fuzz(func(t *testing.T, config byte, script []byte) {
		const longest = 3 * 400 // more takes longer, and shows nothing new
		f := newFuzzed(t, fuzzConfig(config))
		for script = script[:min(len(script), longest)]; len(script) >= 3; script = script[3:] {
			f.do(script[0], script[1], script[2])
			f.compare()
		}
	})
}

// TestRandomScripts plays scripts longer than the fuzzer's seeds.
func TestRandomScripts(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 60 {
		f := newFuzzed(t, fuzzConfig(byte(rng.Uint32())))
		for range 500 {
			f.do(byte(rng.Uint32()), byte(rng.Uint32()), byte(rng.Uint32()))
			f.compare()
		}
	}
}
