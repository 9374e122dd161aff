package listener

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/andreimerlescu/concert/internal/nonblock"
)

// guardedConn is a connection under a guard. Its methods are as safe for concurrent
// use as those of the connection in it.
type guardedConn struct {
	net.Conn
	socket nonblock.Socket // of Conn, for reading and writing
	guard  *Guard
	entry  entry

	introduced *introduction // nil when no PROXY header is due
	reading    reading
	writing    writing

	heard  atomic.Bool  // bytes have come since it began to wait
	speech atomic.Int32 // 0 before the first byte; then plain or encrypted
	ended  atomic.Bool  // it was told 408: nothing may follow
}

// What a connection can speak.
const (
	plain int32 = iota + 1
	encrypted
)

// handshake is the first byte of TLS (RFC 8446, section 5.1), and of no request.
const handshake = 0x16

// timedOut is what a client is told whose request header does not come.
const timedOut = "HTTP/1.1 408 Request Timeout\r\nContent-Type: text/plain; charset=utf-8\r\n" +
	"Cache-Control: no-store\r\nConnection: close\r\n\r\n" +
	"The request took too long to arrive. Please try again.\n"

// prepare makes the deadlines those of the connection.
func (c *guardedConn) prepare() {
	now := time.Now()
	c.socket.Of(c.Conn)
	c.reading.conn, c.reading.since = c.Conn, now
	c.reading.rested.L = &c.reading.mu
	c.writing.conn, c.writing.since, c.writing.deadline.writing = c.Conn, now, true
}

// Read reads what the client sends, after the PROXY header if one is due.
func (c *guardedConn) Read(p []byte) (n int, err error) {
	if c.introduced != nil {
		if err := c.introduce(); err != nil {
			return 0, err
		}
		n = copy(p, c.introduced.rest)
		c.introduced.rest = c.introduced.rest[n:]
	}
	if n == 0 {
		n, err = c.read(p)
	}
	switch {
	case n > 0:
		c.hear(p[0])
	case errors.Is(err, os.ErrDeadlineExceeded) && c.slow() && !c.ended.Swap(true):
		_, _ = io.WriteString(c.Conn, timedOut) // whether it arrives or not, the connection is over
	}
	return n, err
}

// hear notes that bytes have come.
func (c *guardedConn) hear(first byte) {
	if c.heard.Load() {
		return
	}
	c.heard.Store(true)
	if c.speech.Load() == 0 {
		speech := plain
		if first == handshake {
			speech = encrypted
		}
		c.speech.Store(speech)
	}
}

// slow reports whether a part of a request header has come, and nobody would
// understand more than its client.
func (c *guardedConn) slow() bool {
	return c.heard.Load() && c.entry.isWaiting() && c.speech.Load() == plain
}

// Close closes the connection and takes it out of the count.
func (c *guardedConn) Close() error {
	c.guard.leave(&c.entry)
	err := c.Conn.Close()
	c.reading.stop()
	return err
}

// RemoteAddr is the client's address: what the PROXY header says, or the other
// end of the connection. It waits for the header.
func (c *guardedConn) RemoteAddr() net.Addr {
	if c.introduced != nil && c.introduce() == nil && c.introduced.client != nil {
		return c.introduced.client
	}
	return c.Conn.RemoteAddr()
}

// NetConn returns the connection to whoever is at its other end, be it a proxy.
func (c *guardedConn) NetConn() net.Conn { return c.Conn }

// CloseWrite ends the direction to the client.
func (c *guardedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// SetLinger is as [net.TCPConn.SetLinger].
func (c *guardedConn) SetLinger(seconds int) error {
	if tcp, ok := c.Conn.(interface{ SetLinger(int) error }); ok {
		return tcp.SetLinger(seconds)
	}
	return errors.ErrUnsupported
}

// State is the server's ConnState hook.
func (g *Guard) State(conn net.Conn, state http.ConnState) {
	c := find(conn)
	if c == nil {
		return
	}
	switch state {
	case http.StateNew, http.StateIdle:
		c.heard.Store(false)
		c.entry.wait()
	case http.StateActive, http.StateHijacked:
		c.entry.work()
	}
}

// find returns the guarded connection in conn, which TLS may have wrapped.
func find(conn net.Conn) *guardedConn {
	for {
		if c, ok := conn.(*guardedConn); ok {
			return c
		}
		outer, ok := conn.(interface{ NetConn() net.Conn })
		if !ok {
			return nil
		}
		conn = outer.NetConn()
	}
}

type entryKey struct{}

// Context is the server's ConnContext hook. It is what Reset goes by.
func (g *Guard) Context(ctx context.Context, conn net.Conn) context.Context {
	if c := find(conn); c != nil {
		return context.WithValue(ctx, entryKey{}, held{g, &c.entry, c})
	}
	return ctx
}

// held is an entry with its guard.
type held struct {
	guard *Guard
	entry *entry
	conn  *guardedConn // nil over QUIC
}
