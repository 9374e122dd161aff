package rawtest

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// Client is a raw connection to the server under test.
type Client struct {
	t    testing.TB
	conn net.Conn
	r    *bufio.Reader
}

// Response is a response as the client received it.
type Response struct {
	Head
	Body     []byte   // without framing
	RawBody  []byte   // with framing
	Trailers []string // trailer lines in order
	Err      error    // why the body is incomplete; nil when it is whole
}

// Status is the status code, as text.
func (r Response) Status() string {
	_, rest, _ := strings.Cut(r.Line, " ")
	status, _, _ := strings.Cut(rest, " ")
	return status
}

// Dial connects to addr, from 127.0.0.1.
func Dial(t testing.TB, addr string) *Client {
	t.Helper()
	return DialFrom(t, "127.0.0.1", addr)
}

// DialFrom connects to addr from the given source address; Linux accepts any
// in 127.0.0.0/8, which is how a test plays several peers.
func DialFrom(t testing.TB, source, addr string) *Client {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(source)}, Timeout: Patience}
	conn, err := d.Dial("tcp", addr)
	if err != nil {
		t.Fatalf("rawtest: dial from %s: %v", source, err)
	}
	return NewClient(t, conn)
}

// DialTLS connects to addr with TLS, offering the protocols in cfg.
func DialTLS(t testing.TB, addr string, cfg *tls.Config) *Client {
	t.Helper()
	conn, err := tls.Dial("tcp", addr, cfg)
	if err != nil {
		t.Fatalf("rawtest: dial TLS: %v", err)
	}
	return NewClient(t, conn)
}

// NewClient wraps a connection, and closes it when the test ends.
func NewClient(t testing.TB, conn net.Conn) *Client {
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(Patience))
	return &Client{t: t, conn: conn, r: bufio.NewReader(conn)}
}

// Send sends exactly these bytes, in one write.
func (c *Client) Send(s string) {
	c.t.Helper()
	if err := c.TrySend(s); err != nil {
		c.t.Fatalf("rawtest: send: %v", err)
	}
}

// TrySend is Send where the server may have closed already.
func (c *Client) TrySend(s string) error {
	_ = c.conn.SetDeadline(time.Now().Add(Patience))
	_, err := io.WriteString(c.conn, s)
	return err
}

// ReadHead reads a status line and header, and fails the test if none comes.
func (c *Client) ReadHead() Head {
	c.t.Helper()
	_ = c.conn.SetDeadline(time.Now().Add(Patience))
	h, err := readHead(c.r)
	if err != nil {
		c.t.Fatalf("rawtest: read head: %v (got %q)", err, h.Line)
	}
	return h
}

// ReadResponse reads one response to a request of that method. Informational
// ones count: they are responses without a body.
func (c *Client) ReadResponse(method string) Response {
	c.t.Helper()
	resp := Response{Head: c.ReadHead()}
	status := resp.Status()
	if method == "HEAD" || strings.HasPrefix(status, "1") || status == "204" || status == "304" {
		return resp
	}
	b, err := readBody(c.r, resp.Head, true)
	resp.Body, resp.RawBody, resp.Trailers, resp.Err = b.decoded, b.raw, b.trailers, err
	return resp
}

// ReadFull reads exactly n bytes and fails the test when fewer come.
func (c *Client) ReadFull(n int) string {
	c.t.Helper()
	_ = c.conn.SetDeadline(time.Now().Add(Patience))
	buf := make([]byte, n)
	if got, err := io.ReadFull(c.r, buf); err != nil {
		c.t.Fatalf("rawtest: read %d bytes: %v (got %q)", n, err, buf[:got])
	}
	return string(buf)
}

// ReadAll reads up to the end of the connection. The error is nil for a FIN;
// a reset or no end within Patience gives one.
func (c *Client) ReadAll() (string, error) {
	_ = c.conn.SetDeadline(time.Now().Add(Patience))
	all, err := io.ReadAll(c.r)
	return string(all), err
}

// Read implements io.Reader, for a test that goes on whatever comes.
func (c *Client) Read(p []byte) (int, error) {
	_ = c.conn.SetDeadline(time.Now().Add(Patience))
	return c.r.Read(p)
}

// Ended waits for the end of the connection, whichever way, and fails the test
// if none comes.
func (c *Client) Ended() {
	c.t.Helper()
	var timeout net.Error
	if _, err := c.ReadAll(); errors.As(err, &timeout) && timeout.Timeout() {
		c.t.Fatal("rawtest: the server kept the connection open")
	}
}

// Close closes the connection.
func (c *Client) Close() { _ = c.conn.Close() }

// CloseWrite half-closes the connection.
func (c *Client) CloseWrite() { closeWrite(c.conn) }

// Reset closes the connection with a TCP reset.
func (c *Client) Reset() { reset(c.conn) }
