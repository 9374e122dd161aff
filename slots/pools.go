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

const (
	// kinds is how many gates a key can have.
	kinds  = 2
	shards = 64 // a power of two; a shard's lock is held for a map access
)

// Pools keeps, for each key in use, one gate per kind of use, 0 or 1, made when
// it is first asked for. What the kinds are is the owner's to say, with a type
// of its own. Use [NewPools]. Pools of keys no longer in use stay until the
// owner calls [Pools.Sweep].
type Pools[Kind ~uint8] struct {
	shards [shards]shard

	resize sync.Mutex // serialises SetCap; taken before any shard's lock
	// caps are stored before SetCap walks the shards, and loaded under a
	// shard's lock: a gate is made with the new capacity or found by the walk.
	caps [kinds]atomic.Int64
}

type shard struct {
	mu    sync.Mutex // guards the map and the pools in it, not their gates' insides
	pools map[Key]*pool
}

// pool is what one key holds.
type pool struct {
	shard *shard
	gates [kinds]*Gate

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

// NewPools returns an empty set. Its gates have no slots before [Pools.SetCap].
func NewPools[Kind ~uint8]() *Pools[Kind] {
	p := &Pools[Kind]{}
	for i := range p.shards {
		p.shards[i].pools = make(map[Key]*pool)
	}
	return p
}

// Acquire takes a slot of the key's gate of kind k, as [Gate.Acquire] does. The
// lease holds a slot only when the outcome is Acquired.
func (p *Pools[Kind]) Acquire(key Key, k Kind, done <-chan struct{}, wait time.Duration) (Lease, Outcome) {
	l := p.pin(key, k)
	outcome := l.gate.Acquire(done, wait)
	if outcome != Acquired {
		l.pool.unpin()
		return Lease{}, outcome
	}
	return l, Acquired
}

// Release gives the slot back. It panics on the zero Lease.
func (l Lease) Release() {
	if l.gate == nil {
		panic("BUG: slots: released a lease that holds nothing")
	}
	l.gate.Release()
	l.pool.unpin()
}

// SetCap gives every gate of kind k, present and to come, n slots (≥ 0).
// Gates are resized in place: whoever holds a slot keeps it and counts.
func (p *Pools[Kind]) SetCap(k Kind, n int) {
	p.resize.Lock()
	defer p.resize.Unlock()
	p.caps[k].Store(int64(n))
	for i := range p.shards {
		s := &p.shards[i]
		s.mu.Lock()
		for _, pool := range s.pools {
			if gate := pool.gates[k]; gate != nil {
				gate.SetCap(n)
			}
		}
		s.mu.Unlock()
	}
}

// Cap returns the capacity of the gates of kind k.
func (p *Pools[Kind]) Cap(k Kind) int { return int(p.caps[k].Load()) }

// Len returns the number of pools kept.
func (p *Pools[Kind]) Len() int {
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
func (p *Pools[Kind]) Sweep(now time.Time, idle time.Duration) int {
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

// pin finds or makes the key's gate of kind k and keeps it from being swept.
func (p *Pools[Kind]) pin(key Key, k Kind) Lease {
	s := &p.shards[key[len(key)-1]%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	it := s.pools[key]
	if it == nil {
		it = &pool{shard: s}
		s.pools[key] = it
	}
	if it.gates[k] == nil {
		it.gates[k] = New(p.Cap(k))
	}
	it.pins++
	return Lease{pool: it, gate: it.gates[k]}
}

func (p *pool) unpin() {
	p.shard.mu.Lock()
	p.pins--
	p.used = true
	p.shard.mu.Unlock()
}
