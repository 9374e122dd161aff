package handover

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// listener is a socket whose accepting can be paused. Connections wait in the
// kernel meanwhile, for this process or for another that has the socket.
type listener struct {
	net.Listener
	name   string // network and address as they were asked for
	closed chan struct{}

	mu     sync.Mutex    // guards the fields below
	used   bool          // somebody accepts
	gate   chan struct{} // nil, or closed when the pause is over
	parked chan struct{} // closed when the one who accepts has noticed it
	done   bool          // closed was closed
}

func newListener(ln net.Listener, name string) *listener {
	return &listener{Listener: ln, name: name, closed: make(chan struct{})}
}

// deadliner is what a listener of package net can do.
type deadliner interface{ SetDeadline(time.Time) error }

// Accept waits for a connection, and through pauses. A connection that was
// accepted at the very moment of a pause is returned: it cannot be put back.
func (l *listener) Accept() (net.Conn, error) {
	for {
		l.mu.Lock()
		l.used = true
		l.mu.Unlock()
		c, err := l.Listener.Accept()
		if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
			return c, err
		}
		gate := l.park()
		if gate == nil {
			continue // the pause ended meanwhile
		}
		select {
		case <-gate:
		case <-l.closed:
			return nil, net.ErrClosed
		}
	}
}

// park notes that the pause was noticed, and returns its gate.
func (l *listener) park() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.parked != nil {
		close(l.parked)
		l.parked = nil
	}
	return l.gate
}

// Close closes this process's end of the socket, and ends a pause.
func (l *listener) Close() error {
	l.mu.Lock()
	if !l.done {
		l.done = true
		close(l.closed)
		if l.parked != nil { // nobody will come back
			close(l.parked)
			l.parked = nil
		}
	}
	l.mu.Unlock()
	return l.Listener.Close()
}

// pause stops Accept, or lets it go on. What it returns, if not nil, is closed
// once the server has come back for another connection and found the pause:
// then it knows of all those it accepted before. Without that wait, one that
// was accepted and not yet counted would be cut off by a fast exit.
func (l *listener) pause(on bool) (quiet <-chan struct{}) {
	d, ok := l.Listener.(deadliner)
	if !ok {
		return nil // nothing package net makes
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case on && l.gate == nil:
		l.gate = make(chan struct{})
		if l.used && !l.done {
			l.parked = make(chan struct{})
			quiet = l.parked
		}
		_ = d.SetDeadline(time.Unix(1, 0)) // long past; fails only when closed
	case !on && l.gate != nil:
		_ = d.SetDeadline(time.Time{})
		close(l.gate)
		l.gate, l.parked = nil, nil
	}
	return quiet
}
