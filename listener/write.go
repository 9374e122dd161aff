package listener

import (
	"errors"
	"net"
	"os"
	"time"
)

// writing is how long a client is waited for to take what is written. The
// deadline is the time of the next look at what it has taken.
type writing struct {
	deadline

	// The fields below are guarded by the deadline's mu.
	half     time.Duration // of the time that it was given; 0 when there is none
	gathered *[]byte       // see Gather; nil while what is written leaves at once
	head     *[]byte       // see Head; nil when there is nothing to insert
}

// leastTaken is how many bytes a client has to take in half the time that it
// has for a piece; fewer are no progress.
const leastTaken = 1 << 10

// SetWriteDeadline sets when writing is given up, unless the client goes on
// taking what is written: a kernel takes several megabytes from us, and no
// more until a third of that has arrived, so on a bad line one write may last
// for minutes. Until half the time is over nobody looks; from then on some
// progress in each half is enough, where that can be seen (Linux).
func (c *guardedConn) SetWriteDeadline(at time.Time) error {
	w := &c.writing
	w.mu.Lock()
	defer w.mu.Unlock()
	w.half = 0
	if !at.IsZero() {
		w.half = max(0, time.Until(at)/2)
	}
	return w.setLocked(at.Add(-w.half))
}

// SetDeadline is SetReadDeadline and SetWriteDeadline.
func (c *guardedConn) SetDeadline(at time.Time) error {
	return errors.Join(c.SetWriteDeadline(at), c.SetReadDeadline(at))
}

// Write writes to the client.
func (c *guardedConn) Write(p []byte) (n int, err error) {
	if c.ended.Load() {
		return 0, net.ErrClosed
	}
	switch c.writing.keep(p) {
	case gathered:
		return len(p), nil
	case complete:
		return len(p), c.Send()
	}
	c.writing.begin()
	defer c.writing.end()
	if n, err = c.write(p); err == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
		return n, err
	}
	queued, seen := 0, n // nobody has looked yet
	for first := true; ; first = false {
		now := unsent(c.Conn)
		if !first && n == seen && queued-now < leastTaken || !c.extend() {
			return n, err
		}
		queued, seen = now, n
		m, werr := c.write(p[n:])
		n, err = n+m, werr
		if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
	}
}

// write writes until the deadline.
func (c *guardedConn) write(p []byte) (n int, err error) {
	for {
		m, err := c.socket.Write(p[n:])
		n += m
		if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) || c.writing.passed() {
			return n, err
		}
	}
}

// extend gives the client another half of its time. It reports false when
// somebody wants the writing to end.
func (c *guardedConn) extend() bool {
	w := &c.writing
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.half <= 0 {
		return false
	}
	return w.setLocked(time.Now().Add(w.half)) == nil
}
