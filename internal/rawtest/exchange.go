package rawtest

import (
	"bufio"
	"io"
	"net"
	"time"
)

// Exchange is one request being answered by a script. Errors of the network
// are not reported: a script that was cut off simply has no effect any more,
// and the test sees that on the other side.
type Exchange struct {
	Request *Request

	origin *Origin
	conn   net.Conn
	r      *bufio.Reader
	closed bool
}

// ReadBody reads the body by its framing into the Request, and returns it
// without framing. The error is io.ErrUnexpectedEOF when it was cut.
func (x *Exchange) ReadBody() ([]byte, error) {
	b, err := readBody(x.r, x.Request.Head, false)
	x.origin.mu.Lock()
	defer x.origin.mu.Unlock()
	x.Request.Body, x.Request.RawBody, x.Request.Trailers = b.decoded, b.raw, b.trailers
	return b.decoded, err
}

// Write sends exactly these bytes, in one write.
func (x *Exchange) Write(s string) { _, _ = io.WriteString(x.conn, s) }

// Read reads whatever has come, after the head: part of a body, or the bytes
// of another protocol. It returns "" at the end of the connection.
func (x *Exchange) Read() string {
	buf := make([]byte, 4096)
	n, _ := x.r.Read(buf)
	return string(buf[:n])
}

// ReadFull reads exactly n bytes; fewer at the end of the connection.
func (x *Exchange) ReadFull(n int) string {
	buf := make([]byte, n)
	n, _ = io.ReadFull(x.r, buf)
	return string(buf[:n])
}

// AwaitEnd reads and drops everything until the other side has closed, and
// reports whether it did so with a FIN (false: reset, or Patience ran out).
func (x *Exchange) AwaitEnd() bool {
	_ = x.conn.SetReadDeadline(time.Now().Add(Patience))
	_, err := io.Copy(io.Discard, x.r)
	return err == nil
}

// Close closes the connection; the script should then return.
func (x *Exchange) Close() { x.closed = true; _ = x.conn.Close() }

// CloseWrite half-closes the connection: the other side sees the end, and can
// still send.
func (x *Exchange) CloseWrite() { closeWrite(x.conn) }

// Reset closes the connection with a TCP reset.
func (x *Exchange) Reset() { x.closed = true; reset(x.conn) }

func closeWrite(c net.Conn) {
	if hc, ok := c.(interface{ CloseWrite() error }); ok {
		_ = hc.CloseWrite()
	}
}

func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}
