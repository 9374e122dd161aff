package upstream

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
)

// streams are the exchanges that may last for hours: WebSockets, and whatever
// runs on a stream path. They are known so that a stop need not wait for them.
type streams struct {
	mu      sync.Mutex // guards the fields below, and every stream's end
	open    map[*stream]struct{}
	closing bool
	settled bool
	empty   chan struct{} // made when closing; closed once nothing is open
}

// stream is one of them.
type stream struct {
	client netip.Addr
	end    func() // ends it, without blocking
	ended  bool   // end was called, also if it is replaced meanwhile
}

// add registers a stream. When streams are being ended, it is at once.
func (ss *streams) add(client netip.Addr, end func()) *stream {
	s := &stream{client: client, end: end}
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if ss.open == nil {
		ss.open = make(map[*stream]struct{})
	}
	ss.open[s] = struct{}{}
	if ss.closing {
		end()
	}
	return s
}

// replace gives s another way of being ended.
func (ss *streams) replace(s *stream, end func()) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	s.end = end
	if ss.closing || s.ended {
		end()
	}
}

func (ss *streams) remove(s *stream) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	delete(ss.open, s)
	ss.settleLocked()
}

// settleLocked tells whoever waits for the end of all streams that it has come.
func (ss *streams) settleLocked() {
	if ss.closing && !ss.settled && len(ss.open) == 0 {
		ss.settled = true
		close(ss.empty)
	}
}

// CloseStreams ends all streams, those still to come included, and returns
// when they are ended, or with an error when ctx is done first. A WebSocket is
// sent a close frame with status 1001 (RFC 6455, section 7.4.1) and has a
// second to answer it; a server-sent event stream just ends.
func (p *Proxy) CloseStreams(ctx context.Context) error {
	left := p.streams.close()
	select {
	case <-left:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("end the open streams: %w", context.Cause(ctx))
	}
}

// close ends all streams and returns a channel that is closed when none is
// left.
func (ss *streams) close() <-chan struct{} {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if !ss.closing {
		ss.closing = true
		ss.empty = make(chan struct{})
	}
	for s := range ss.open {
		s.end()
	}
	ss.settleLocked()
	return ss.empty
}

// EndStreams ends the open streams of the clients that match, as CloseStreams
// does but without waiting, and returns how many there were.
func (p *Proxy) EndStreams(match func(client netip.Addr) bool) (n int) {
	p.streams.mu.Lock()
	defer p.streams.mu.Unlock()
	for s := range p.streams.open {
		if match(s.client) {
			s.ended = true
			s.end()
			n++
		}
	}
	return n
}

// Streams is how many streams are open now.
func (p *Proxy) Streams() int {
	p.streams.mu.Lock()
	defer p.streams.mu.Unlock()
	return len(p.streams.open)
}
