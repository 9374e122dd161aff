package listener

import (
	"cmp"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"github.com/andreimerlescu/concert/clientip"
)

// entry is one connection as the guard counts it.
type entry struct {
	close func() error // ends it at once, on any goroutine
	// waiting is when it began to wait for a request, in Unix nanoseconds;
	// while there is something to do on it, when that began, negated.
	waiting atomic.Int64
	resets  bucket

	// The fields below are guarded by the guard's mu.
	key  netip.Prefix
	keep bool // not closed for others
	in   bool // counted
}

// wait notes that the connection waits for a request from now on, and work
// that there is something to do on it.
func (e *entry) wait() { e.waiting.Store(time.Now().UnixNano()) }
func (e *entry) work() { e.waiting.Store(-time.Now().UnixNano()) }

func (e *entry) isWaiting() bool { return e.waiting.Load() > 0 }

const (
	// batch is the share of MaxConns that is closed at once when room is
	// needed: looking for them costs a walk over all connections.
	batch = 64
	// hoard is how many connections one client has at least, and the share of
	// MaxConns as well, when busy ones of it are closed for others.
	hoard      = 32
	hoardShare = 64
)

// enter counts a new connection, or says why it is refused.
func (g *Guard) enter(e *entry, peer netip.Addr) refusal {
	cfg := g.cfg.Load()
	e.wait()
	why, victims := g.count(cfg, e, peer)
	for _, v := range victims {
		_ = v.close() // its goroutine finds out
	}
	return why
}

func (g *Guard) count(cfg *Config, e *entry, peer netip.Addr) (why refusal, victims []*entry) {
	g.mu.Lock()
	defer g.mu.Unlock()
	key, allowed := clientip.KeyOf(peer), cfg.Allow.Contains(peer)
	if limit := cfg.MaxConns; limit > 0 && len(g.entries) >= limit && !allowed {
		if victims = g.makeRoomLocked(limit); len(victims) == 0 {
			return tooMany, nil
		}
	}
	if g.overLocked(cfg, key, peer) {
		return tooManyOfOne, victims
	}
	e.keep, e.in = allowed || cfg.Proxies.Contains(peer), true
	g.entries[e] = struct{}{}
	g.addLocked(e, key)
	return notRefused, victims
}

// overLocked reports whether the client has as many connections as one may.
func (g *Guard) overLocked(cfg *Config, key netip.Prefix, peer netip.Addr) bool {
	return cfg.MaxPerClient > 0 && key.IsValid() && g.clients[key] >= cfg.MaxPerClient &&
		!cfg.Proxies.Contains(peer) && !cfg.Allow.Contains(peer)
}

// makeRoomLocked takes connections out of the count and returns them, to be
// closed: some that wait or, when none does, busy ones of clients that hoard.
func (g *Guard) makeRoomLocked(limit int) []*entry {
	var waiting, hoarded []candidate
	for e := range g.entries {
		since := e.waiting.Load()
		switch {
		case e.keep:
		case since > 0:
			waiting = append(waiting, candidate{e, g.clients[e.key], since})
		case g.clients[e.key] >= max(hoard, limit/hoardShare):
			hoarded = append(hoarded, candidate{e, g.clients[e.key], -since})
		}
	}
	if len(waiting) == 0 {
		waiting = hoarded
	}
	slices.SortFunc(waiting, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.since, b.since))
	})
	var victims []*entry
	for _, c := range waiting[:min(len(waiting), max(1, limit/batch))] {
		victims = append(victims, c.entry)
		g.removeLocked(c.entry)
	}
	g.shed.Add(uint64(len(victims)))
	return victims
}

// candidate is an entry that may be closed for others.
type candidate struct {
	*entry
	count int   // of its client's connections
	since int64 // it waits, or is busy
}

// become has the connection count as another client's from now on.
func (g *Guard) become(e *entry, client netip.Addr) refusal {
	cfg := g.cfg.Load()
	key := clientip.KeyOf(client)
	g.mu.Lock()
	defer g.mu.Unlock()
	if !e.in {
		return tooMany // it made room for another meanwhile
	}
	g.subtractLocked(e)
	if g.overLocked(cfg, key, client) {
		delete(g.entries, e)
		e.in = false
		return tooManyOfOne
	}
	e.keep = cfg.Allow.Contains(client) || cfg.Proxies.Contains(client)
	g.addLocked(e, key)
	return notRefused
}

// leave takes a connection out of the count, however often it is called.
func (g *Guard) leave(e *entry) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.removeLocked(e)
}

func (g *Guard) removeLocked(e *entry) {
	if !e.in {
		return
	}
	e.in = false
	delete(g.entries, e)
	g.subtractLocked(e)
}

func (g *Guard) addLocked(e *entry, key netip.Prefix) {
	e.key = key
	g.clients[key]++
}

func (g *Guard) subtractLocked(e *entry) {
	if g.clients[e.key]--; g.clients[e.key] == 0 {
		delete(g.clients, e.key)
	}
}
