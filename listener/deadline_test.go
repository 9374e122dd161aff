package listener

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// counted is one end of a connection in memory that counts what is asked of it.
type counted struct {
	net.Conn
	deadlines, reads atomic.Int32
}

func (c *counted) RemoteAddr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(203, 0, 113, 9), Port: 4711}
}

func (c *counted) SetReadDeadline(at time.Time) error {
	c.deadlines.Add(1)
	return c.Conn.SetReadDeadline(at)
}

func (c *counted) SetWriteDeadline(at time.Time) error {
	c.deadlines.Add(1)
	return c.Conn.SetWriteDeadline(at)
}

func (c *counted) Read(p []byte) (int, error) {
	c.reads.Add(1)
	return c.Conn.Read(p)
}

// pair returns a connection under a guard, what is in it, and its other end.
func pair(t *testing.T) (client net.Conn, own *counted, server *guardedConn) {
	t.Helper()
	client, there := net.Pipe()
	own = &counted{Conn: there}
	server = New(Config{}).accept(own)
	t.Cleanup(func() {
		_ = client.Close()
		_ = server.Close()
	})
	return client, own, server
}

// wantTimeout checks that a call ended by its deadline, after exactly that time.
func wantTimeout(t *testing.T, what string, began time.Time, want time.Duration, err error) {
	t.Helper()
	if took := time.Since(began); took != want || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%s: %v after %v, want a timeout after %v", what, err, took, want)
	}
}

// The deadlines of one request after the other, as net/http's server sets them,
// hardly reach the connection.
func TestDeadlinesAreRarelySet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, own, c := pair(t)
		buf := make([]byte, 100)
		for range 100 {
			_ = c.SetReadDeadline(time.Now().Add(time.Minute))
			go func() { _, _ = io.WriteString(client, "request") }() // ends with the pipe
			if n, err := c.Read(buf); n != 7 || err != nil {
				t.Fatal(n, err)
			}
			_ = c.SetReadDeadline(time.Now().Add(time.Second))
			_ = c.SetReadDeadline(time.Time{})
			_ = c.SetWriteDeadline(time.Now().Add(time.Minute))
			go func() { _, _ = io.ReadFull(client, make([]byte, 6)) }() // ends with the pipe
			if n, err := io.WriteString(c, "answer"); n != 6 || err != nil {
				t.Fatal(n, err)
			}
			_ = c.SetWriteDeadline(time.Time{})
			synctest.Wait()
			time.Sleep(100 * time.Millisecond)
		}
		if n := own.deadlines.Load(); n > 4 {
			t.Errorf("%d deadlines set in 100 requests", n)
		}
	})
}

func TestReadDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, _, c := pair(t)
		buf := make([]byte, 100)
		read := func() error {
			_, err := c.Read(buf)
			return err
		}
		began := time.Now()
		_ = c.SetReadDeadline(began.Add(time.Second))
		wantTimeout(t, "the first", began, time.Second, read())
		wantTimeout(t, "the first, again", began, time.Second, read())
		_ = c.SetReadDeadline(began.Add(10 * time.Second))
		wantTimeout(t, "a later one", began, 10*time.Second, read())
		_ = c.SetReadDeadline(began.Add(time.Hour))
		_ = c.SetReadDeadline(began.Add(20 * time.Second))
		wantTimeout(t, "an earlier one before reading", began, 20*time.Second, read())

		_ = c.SetReadDeadline(began.Add(time.Hour))
		time.AfterFunc(time.Second, func() { _ = c.SetReadDeadline(began.Add(30 * time.Second)) })
		wantTimeout(t, "an earlier one while reading", began, 30*time.Second, read())
		_ = c.SetReadDeadline(time.Now().Add(time.Second))
		time.AfterFunc(time.Millisecond, func() { _ = c.SetReadDeadline(time.Time{}) })
		time.AfterFunc(time.Minute, func() { _ = c.SetReadDeadline(time.Unix(1, 0)) })
		wantTimeout(t, "lifted, then long past", began, 90*time.Second, read())

		_ = c.SetReadDeadline(time.Time{})
		time.AfterFunc(time.Hour, func() { _, _ = io.WriteString(client, "late") })
		if n, err := c.Read(buf); n != 4 || err != nil {
			t.Errorf("without a deadline: %d bytes, %v", n, err)
		}
	})
}

// Deadlines for writing: those of before do not end what is written now.
func TestLeftWriteDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, _, c := pair(t)
		_ = c.SetWriteDeadline(time.Now().Add(2 * time.Second))
		go func() { _, _ = io.ReadFull(client, make([]byte, 3)) }() // ends with the pipe
		_, _ = io.WriteString(c, "one")
		for _, lifted := range []time.Time{{}, time.Now().Add(time.Hour)} {
			_ = c.SetWriteDeadline(lifted)
			time.AfterFunc(10*time.Second, func() { _, _ = io.ReadFull(client, make([]byte, 3)) })
			if n, err := io.WriteString(c, "two"); n != 3 || err != nil {
				t.Errorf("deadline %v: %d bytes written, %v", lifted, n, err)
			}
		}
	})
}

// While a request is under way, one byte is read only to see whether the client
// leaves, and not before a glance has passed.
func TestLeavingIsLookedOutForLater(t *testing.T) {
	serve := func(t *testing.T, name string, then func(client net.Conn, c *guardedConn), want time.Duration, wantErr error, reads int32) {
		synctest.Test(t, func(t *testing.T) {
			client, own, c := pair(t)
			c.guard.State(c, http.StateActive)
			began := time.Now()
			time.AfterFunc(20*time.Millisecond, func() { then(client, c) })
			n, err := c.Read(make([]byte, 1))
			if took := time.Since(began); n != 0 || !errors.Is(err, wantErr) || took != want || own.reads.Load() != reads {
				t.Errorf("%s: %d bytes, %v after %v and %d reads; want %v after %v and %d", name, n, err, took, own.reads.Load(), wantErr, want, reads)
			}
			if err := c.SetReadDeadline(time.Time{}); err == nil { // and everything goes on
				go func() { _, _ = io.WriteString(client, "next") }() // ends with the pipe
				_, _ = c.Read(make([]byte, 4))
			}
			time.Sleep(time.Second) // a timer that is left over has nobody to wake
		})
	}
	abort := func(_ net.Conn, c *guardedConn) { _ = c.SetReadDeadline(time.Unix(1, 0)) }
	serve(t, "answered", abort, 20*time.Millisecond, os.ErrDeadlineExceeded, 0)
	serve(t, "the client leaves", func(client net.Conn, _ *guardedConn) { _ = client.Close() }, glance, io.EOF, 1)
	serve(t, "closed", func(_ net.Conn, c *guardedConn) { _ = c.Close() }, 20*time.Millisecond, io.ErrClosedPipe, 1)
	late := func(_ net.Conn, c *guardedConn) {
		time.AfterFunc(time.Second, func() { _ = c.SetReadDeadline(time.Unix(1, 0)) })
	}
	serve(t, "answered later", late, 1020*time.Millisecond, os.ErrDeadlineExceeded, 1)
}
