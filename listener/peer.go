package listener

import (
	"context"
	"net"
	"sync/atomic"
)

// Peer is a connection under the guard that is none of package net's: one over
// QUIC. Its methods are safe for concurrent use.
type Peer struct {
	guard  *Guard
	entry  entry
	active atomic.Int32 // requests under way
}

// Enter counts a connection from remote, or refuses it: then it returns nil.
// close ends the connection at once and must not block; it may be called before
// Enter returns, and by other goroutines until Leave.
func (g *Guard) Enter(remote net.Addr, close func() error) *Peer {
	p, cfg := &Peer{guard: g}, g.cfg.Load()
	p.entry.close = close
	client := addrOf(remote)
	if why := g.enter(&p.entry, client); why != notRefused {
		g.refuse(cfg, why, client)
		return nil
	}
	return p
}

// Leave says that the connection has ended.
func (p *Peer) Leave() { p.guard.leave(&p.entry) }

// Begin says that a request has come on it, End that one is answered.
func (p *Peer) Begin() {
	if p.active.Add(1) == 1 {
		p.entry.work()
	}
}

// End is told of in Begin.
func (p *Peer) End() {
	if p.active.Add(-1) == 0 {
		p.entry.wait()
	}
}

// Idle reports whether no request is under way on it.
func (p *Peer) Idle() bool { return p.active.Load() == 0 }

// Context adds the connection to the context of its requests, for [Reset].
func (p *Peer) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, entryKey{}, held{p.guard, &p.entry, nil})
}
