package rawtest

import (
	"context"
	"net"
	"sync"
)

// Memory is a listener without sockets, for tests that run on the clock of a
// testing/synctest bubble. Its connections are those of net.Pipe: a write
// waits for its reader, and they cannot be half-closed.
type Memory struct {
	conns chan net.Conn
	done  chan struct{}
	close sync.Once
}

// NewMemory returns a listener that is reached through its Dial method.
func NewMemory() *Memory {
	return &Memory{conns: make(chan net.Conn), done: make(chan struct{})}
}

// Dial connects to the listener; network and address do not matter.
func (m *Memory) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case m.conns <- far:
		return near, nil
	case <-m.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Accept waits for a Dial.
func (m *Memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.conns:
		return c, nil
	case <-m.done:
		return nil, net.ErrClosed
	}
}

// Close ends the listener; connections are not touched.
func (m *Memory) Close() error {
	m.close.Do(func() { close(m.done) })
	return nil
}

// Addr returns an address that says what this is.
func (m *Memory) Addr() net.Addr { return memoryAddr{} }

type memoryAddr struct{}

func (memoryAddr) Network() string { return "memory" }
func (memoryAddr) String() string  { return "memory:0" }
