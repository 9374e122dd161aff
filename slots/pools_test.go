package slots

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// kind is what these pools tell apart.
type kind uint8

const (
	few kind = iota
	many
)

// newPools returns pools with so many slots of each kind.
func newPools(fewSlots, manySlots int) *Pools[kind] {
	p := NewPools[kind]()
	p.SetCap(few, fewSlots)
	p.SetCap(many, manySlots)
	return p
}

// take fills n slots of a key and returns their leases.
func take(t *testing.T, p *Pools[kind], key Key, k kind, n int) []Lease {
	t.Helper()
	leases := make([]Lease, n)
	for i := range leases {
		lease, outcome := p.Acquire(key, k, nil, 0)
		if outcome != Acquired || lease == (Lease{}) {
			t.Fatalf("slot %d: %v, %+v", i, outcome, lease)
		}
		leases[i] = lease
	}
	return leases
}

func wantFull(t *testing.T, p *Pools[kind], key Key, k kind) {
	t.Helper()
	if lease, outcome := p.Acquire(key, k, nil, 0); outcome != TimedOut || lease != (Lease{}) {
		t.Fatalf("%v, %+v; want a full pool", outcome, lease)
	}
}

func TestPoolsLimitEachKeyAndKind(t *testing.T) {
	p := newPools(2, 3)
	for _, key := range []Key{{1}, {2}} {
		take(t, p, key, few, 2)
		wantFull(t, p, key, few)
		take(t, p, key, many, 3)
		wantFull(t, p, key, many)
	}
	if p.Len() != 2 {
		t.Errorf("%d pools, want 2", p.Len())
	}
}

func TestPoolsReleaseFreesTheSlot(t *testing.T) {
	p := newPools(1, 1)
	take(t, p, Key{1}, few, 1)[0].Release()
	take(t, p, Key{1}, few, 1)
}

func TestPoolsSetCapResizesInPlace(t *testing.T) {
	p := newPools(4, 4)
	leases := take(t, p, Key{1}, few, 4)
	p.SetCap(few, 2)
	if p.Cap(few) != 2 || p.Cap(many) != 4 {
		t.Errorf("caps %d and %d, want 2 and 4", p.Cap(few), p.Cap(many))
	}
	for _, lease := range leases[:2] {
		lease.Release()
		wantFull(t, p, Key{1}, few)
	}
	leases[2].Release()
	take(t, p, Key{1}, few, 1)
	take(t, p, Key{2}, few, 2) // a new pool
	wantFull(t, p, Key{2}, few)
}

func TestPoolsSweep(t *testing.T) {
	start := time.Unix(1_800_000_000, 0)
	p := newPools(1, 1)
	take(t, p, Key{1}, few, 1)[0].Release()
	held := take(t, p, Key{2}, many, 1)[0]

	steps := []struct {
		at      time.Duration
		use     bool // key 1, just before
		forgets int
	}{
		{at: 0}, // the idle time begins
		{at: 9 * time.Minute},
		{at: 9*time.Minute + time.Second, use: true}, // and again
		{at: 19 * time.Minute},
		{at: 20 * time.Minute, forgets: 1},
		{at: time.Hour}, // key 2 is held, however long
	}
	for _, s := range steps {
		if s.use {
			take(t, p, Key{1}, few, 1)[0].Release()
		}
		if n := p.Sweep(start.Add(s.at), 10*time.Minute); n != s.forgets {
			t.Errorf("after %v: forgot %d, want %d", s.at, n, s.forgets)
		}
	}
	wantFull(t, p, Key{2}, many) // still the same pool

	held.Release()
	p.Sweep(start.Add(2*time.Hour), 10*time.Minute)
	p.Sweep(start.Add(3*time.Hour), 10*time.Minute)
	if p.Len() != 0 {
		t.Errorf("%d pools left, want none", p.Len())
	}
}

func TestPoolsSweepKeepsAPoolWithWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPools(0, 0)
		done := make(chan struct{})
		outcome := make(chan Outcome)
		go func() {
			_, o := p.Acquire(Key{1}, few, done, time.Hour)
			outcome <- o
		}()
		synctest.Wait()
		for range 3 {
			p.Sweep(time.Now(), 0)
			time.Sleep(time.Minute)
		}
		if p.Len() != 1 {
			t.Error("swept a pool that somebody waits at")
		}
		close(done)
		if o := <-outcome; o != Left {
			t.Errorf("outcome %v, want %v", o, Left)
		}
		p.Sweep(time.Now(), 0)
		if n := p.Sweep(time.Now(), 0); n != 1 {
			t.Errorf("forgot %d, want 1", n)
		}
	})
}

// TestPoolsSweptWhileInUse takes slots of one key while it is swept without
// mercy: its cap of 1 must hold throughout, and so must one being resized.
func TestPoolsSweptWhileInUse(t *testing.T) {
	p := newPools(1, 1)
	var inside, over atomic.Int64
	stop := make(chan struct{})
	var sweeper, users sync.WaitGroup
	sweeper.Go(func() {
		for now := time.Unix(0, 0); ; now = now.Add(time.Hour) {
			select {
			case <-stop:
				return
			default:
				p.Sweep(now, 0)
				p.SetCap(few, 1)
			}
		}
	})
	for range 4 {
		users.Go(func() {
			for range 2000 {
				if lease, outcome := p.Acquire(Key{}, few, nil, 0); outcome == Acquired {
					if inside.Add(1) > 1 {
						over.Add(1)
					}
					inside.Add(-1)
					lease.Release()
				}
			}
		})
	}
	users.Wait()
	close(stop)
	sweeper.Wait()
	if over.Load() > 0 {
		t.Errorf("the cap was exceeded %d times", over.Load())
	}
}
