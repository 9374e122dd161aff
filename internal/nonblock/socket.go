package nonblock

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
)

// most is how many bytes one call moves.
const most = 64 << 10

// announced is how often a read goes the usual way: once in as many.
const announced = 16

// Socket is a connection whose reads and writes are not announced to the
// scheduler. Of is to be called first, and it must not be copied afterwards.
type Socket struct {
	conn net.Conn
	raw  syscall.RawConn // nil where there is no descriptor

	reads, writes direction
}

// Of has s be the socket of conn. A connection that has no descriptor, such as
// one over TLS, is read and written the usual way.
func (s *Socket) Of(conn net.Conn) {
	s.conn, s.raw = conn, rawConn(conn)
	if available && s.raw != nil {
		s.reads.step, s.writes.step = s.reads.receive, s.writes.send
	}
}

// Raw returns where the connection's descriptor is to be had, or nil. It is for
// those who have calls of their own to make.
func (s *Socket) Raw() syscall.RawConn { return s.raw }

// rawConn returns where the descriptor of a stream socket is to be had, or nil.
func rawConn(conn net.Conn) syscall.RawConn {
	switch conn := conn.(type) {
	case *net.TCPConn:
		raw, _ := conn.SyscallConn() // fails on a closed connection only, which shows soon enough
		return raw
	case *net.UnixConn:
		raw, _ := conn.SyscallConn() // as above
		return raw
	}
	return nil
}

// Read is as [net.Conn.Read].
func (s *Socket) Read(p []byte) (int, error) {
	d := &s.reads
	if !available || s.raw == nil || len(p) == 0 || !d.mu.TryLock() {
		return s.conn.Read(p)
	}
	defer d.mu.Unlock()
	if d.turns = (d.turns + 1) % announced; d.turns == 0 {
		return s.conn.Read(p)
	}
	n, err := d.do(s.raw.Read, p[:min(len(p), most)])
	switch {
	case err != nil:
		return 0, s.wrong("read", err)
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// Write is as [net.Conn.Write].
func (s *Socket) Write(p []byte) (int, error) {
	d := &s.writes
	if !available || s.raw == nil || len(p) == 0 || len(p) > most || !d.mu.TryLock() {
		return s.conn.Write(p)
	}
	defer d.mu.Unlock()
	for sent := 0; ; {
		n, err := d.do(s.raw.Write, p[sent:])
		sent += n
		if err != nil {
			return sent, s.wrong("write", err)
		}
		if sent == len(p) {
			return sent, nil
		}
	}
}

// wrong returns what package net says of a call that has failed.
func (s *Socket) wrong(op string, err error) error {
	if errno, ok := err.(syscall.Errno); ok {
		err = os.NewSyscallError(op, errno)
	} else if known, ok := err.(*net.OpError); ok {
		err = known.Err // the poller's, under the name of another call
	}
	local := s.conn.LocalAddr()
	return &net.OpError{Op: op, Net: local.Network(), Source: local, Addr: s.conn.RemoteAddr(), Err: err}
}

// direction is one of the two that a socket has. A step reports false when the
// poller is to be waited for.
type direction struct {
	step func(descriptor uintptr) bool // a method value, made once

	mu    sync.Mutex // guards the fields below
	turns uint8
	piece []byte
	n     int
	errno syscall.Errno
}

// do has a call made for p when the socket is ready for it.
func (d *direction) do(ready func(func(uintptr) bool) error, p []byte) (int, error) {
	d.piece, d.n, d.errno = p, 0, 0
	err := ready(d.step)
	d.piece = nil
	if err == nil && d.errno != 0 {
		err = d.errno
	}
	return d.n, err
}

func (d *direction) receive(descriptor uintptr) bool {
	d.n, d.errno = receive(descriptor, d.piece)
	return d.done()
}

func (d *direction) send(descriptor uintptr) bool {
	d.n, d.errno = Send(descriptor, d.piece)
	return d.done()
}

// done reports whether the call has come to an end.
func (d *direction) done() bool { return d.errno != syscall.EAGAIN && d.errno != syscall.EINTR }
