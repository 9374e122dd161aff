package slots

import (
	"sync"
	"sync/atomic"
	"time"
)

// Key names one pool, such as the random id of an admission pass. Pools
// spreads keys over its shards by their last byte, so keys should be random
// and not of a stranger's choosing.
type Key [16]byte

// Family is the protocol family of a request. Browsers open a handful of
// connections over HTTP/1 and a hundred streams over HTTP/2, so each key has a
// gate for either, with a capacity of its own.
type Family uint8

const (
	H1 Family = iota // HTTP/1.x
	H2               // HTTP/2 and later
	families
)

const shards = 64 // a power of two; a shard's lock is held for a map access

// Pools keeps, for each key in use, one gate per protocol family, made when it
// is first asked for. Use [NewPools]. Pools of keys no longer in use stay until
// the owner calls [Pools.Sweep].
type Pools struct {
	shards [shards]shard

	resize sync.Mutex // serialises SetCap; taken before any shard's lock
	// caps are stored before SetCap walks the shards, and loaded under a
	// shard's lock: a gate is made with the new capacity or found by the walk.
	caps [families]atomic.Int64
}

type shard struct {
	mu    sync.Mutex // guards the map and the pools in it, not their gates' insides
	pools map[Key]*pool
}

// pool is what one key holds.
type pool struct {
	shard *shard
	gates [families]*Gate

	// pins counts the calls that wait at a gate or hold a slot of it. A pinned
	// pool is never swept, so a key cannot get a second pool, and with it a
	// second helping, while the first is in use.
	pins  int
	used  bool      // given back since the last sweep
	since time.Time // the sweep that first found it unused
}

// Lease is a slot held in a pool. Release it exactly once. The zero Lease
// holds nothing.
type Lease struct {
	pool *pool
	gate *Gate
}

// NewPools returns an empty set whose gates have h1 and h2 slots (each ≥ 0).
func NewPools(h1, h2 int) *Pools {
	p := &Pools{}
	for i := range p.shards {
		p.shards[i].pools = make(map[Key]*pool)
	}
	p.caps[H1].Store(int64(h1))
	p.caps[H2].Store(int64(h2))
	return p
}

// Acquire takes a slot of the key's gate for f, as [Gate.Acquire] does. The
// lease holds a slot only when the outcome is Acquired.
func (p *Pools) Acquire(key Key, f Family, done <-chan struct{}, wait time.Duration) (Lease, Outcome) {
	l := p.pin(key, f)
	outcome := l.gate.Acquire(done, wait)
	if outcome != Acquired {
		l.pool.unpin()
		return Lease{}, outcome
	}
	return l, Acquired
}

// Held reports whether l holds a slot.
func (l Lease) Held() bool { return l.gate != nil }

// Release gives the slot back. It panics on the zero Lease.
func (l Lease) Release() {
	if l.gate == nil {
		panic("BUG: slots: released a lease that holds nothing")
	}
	l.gate.Release()
	l.pool.unpin()
}

// SetCap gives every gate of the family, present and to come, n slots (≥ 0).
// Gates are resized in place: whoever holds a slot keeps it and counts.
func (p *Pools) SetCap(f Family, n int) {
	p.resize.Lock()
	defer p.resize.Unlock()
	p.caps[f].Store(int64(n))
	for i := range p.shards {
		s := &p.shards[i]
		s.mu.Lock()
		for _, pool := range s.pools {
			if gate := pool.gates[f]; gate != nil {
				gate.SetCap(n)
			}
		}
		s.mu.Unlock()
	}
}

// Cap returns the capacity of the gates of family f.
func (p *Pools) Cap(f Family) int { return int(p.caps[f].Load()) }

// Len returns the number of pools kept.
func (p *Pools) Len() int {
	n := 0
	for i := range p.shards {
		s := &p.shards[i]
		s.mu.Lock()
		n += len(s.pools)
		s.mu.Unlock()
	}
	return n
}

// Sweep forgets the pools that nobody has used for idle and nobody holds a
// slot of, and returns how many. The time without use is counted from the
// first sweep that finds none, so that using a pool need not read the clock;
// a pool is thus kept up to two sweep intervals longer than idle.
func (p *Pools) Sweep(now time.Time, idle time.Duration) int {
	n := 0
	for i := range p.shards {
		n += p.shards[i].sweep(now, idle)
	}
	return n
}

func (s *shard) sweep(now time.Time, idle time.Duration) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for key, pool := range s.pools {
		switch {
		case pool.used || pool.pins > 0:
			pool.used, pool.since = false, now
		case now.Sub(pool.since) >= idle:
			delete(s.pools, key)
			n++
		}
	}
	return n
}

// pin finds or makes the key's gate for f and keeps it from being swept.
func (p *Pools) pin(key Key, f Family) Lease {
	s := &p.shards[key[len(key)-1]%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	it := s.pools[key]
	if it == nil {
		it = &pool{shard: s}
		s.pools[key] = it
	}
	if it.gates[f] == nil {
		it.gates[f] = New(p.Cap(f))
	}
	it.pins++
	return Lease{pool: it, gate: it.gates[f]}
}

func (p *pool) unpin() {
	p.shard.mu.Lock()
	p.pins--
	p.used = true
	p.shard.mu.Unlock()
}
