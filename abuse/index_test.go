package abuse

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"testing"
)

func TestIndexAgainstAMap(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	ix := newIndex()
	want := map[id]*Ban{}
	for step := range 200_000 {
		n := rng.IntN(3000)
		if step/50_000%2 == 1 {
			n = rng.IntN(20) // few clients, over and over
		}
		a := numbered(n)
		if n%3 == 0 {
			a = netip.AddrFrom16([16]byte{0x20, 1, byte(n >> 8), byte(n)})
		}
		c := idOf(a)
		if rng.IntN(2) == 0 {
			want[c] = &Ban{Client: keyOf(a)}
			ix.put(c, want[c])
		} else {
			delete(want, c)
			ix.remove(c)
		}
		if got := ix.find(c); got != want[c] {
			t.Fatalf("step %d: client %v has %v, want %v", step, a, got, want[c])
		}
		if step%10_000 == 0 {
			compareIndex(t, ix, want)
		}
	}
	compareIndex(t, ix, want)
	for c := range want {
		ix.remove(c)
	}
	if n := len(*ix.slots.Load()); n != smallestIndex || ix.bans != 0 {
		t.Errorf("%d slots for %d bans after all were lifted", n, ix.bans)
	}
}

func compareIndex(t *testing.T, ix *index, want map[id]*Ban) {
	t.Helper()
	seen := slices.Collect(ix.each)
	for c, b := range want {
		if ix.find(c) != b {
			t.Fatalf("client %v is lost", b.Client)
		}
	}
	if len(seen) != len(want) || ix.bans != len(want) || 2*ix.used > len(*ix.slots.Load()) {
		t.Fatalf("%d bans yielded, %d counted, %d of %d slots used; want %d", len(seen), ix.bans, ix.used, len(*ix.slots.Load()), len(want))
	}
}

// Readers see a ban from the moment it was put until it is removed, whatever
// happens to others, tables that are replaced included.
func TestIndexReadersAndAWriter(t *testing.T) {
	ix := newIndex()
	fixed := numbered(1)
	ix.put(idOf(fixed), &Ban{Client: keyOf(fixed)})
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { // ends when the writer is done
			for {
				select {
				case <-done:
					return
				default:
				}
				if b := ix.find(idOf(fixed)); b == nil || b.Client != keyOf(fixed) {
					t.Error("the ban that was always there is missing")
					return
				}
				for b := range ix.each {
					if got := ix.find(idOf(b.Client.Addr())); got != nil && got.Client != b.Client {
						t.Errorf("the ban of %v was found for %v", got.Client, b.Client)
					}
				}
			}
		})
	}
	for round := range 20 {
		for n := 2; n < 400; n++ {
			a := numbered(n + 400*round)
			ix.put(idOf(a), &Ban{Client: keyOf(a)})
		}
		for n := 2; n < 400; n++ {
			ix.remove(idOf(numbered(n + 400*round)))
		}
	}
	close(done)
	wg.Wait()
}
