package listener

import (
	"errors"
	"os"
	"sync"
	"time"
)

// glance is how long a request may be under way before its client's leaving is
// looked out for. Few last longer, and looking out costs as much as a guard.
const glance = 100 * time.Millisecond

// reading is how long a client is waited for to send something.
type reading struct {
	deadline
	// While a request is under way the server reads one byte, only to notice
	// that the client leaves. The fields below are for putting that off, and
	// guarded by the deadline's mu.
	resting bool
	rested  sync.Cond // resting has become false
	until   time.Time
	timer   *time.Timer // calls wake; nil before its first use
}

// SetReadDeadline sets when reading is given up.
func (c *guardedConn) SetReadDeadline(at time.Time) error {
	r := &c.reading
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.resting {
		r.wakeLocked() // it goes by what is set now
	}
	return r.setLocked(at)
}

// read reads from the connection within the deadline.
func (c *guardedConn) read(p []byte) (int, error) {
	r := &c.reading
	if len(p) == 1 && !c.entry.isWaiting() && !r.rest() {
		return 0, os.ErrDeadlineExceeded
	}
	r.begin()
	defer r.end()
	for {
		n, err := c.socket.Read(p)
		if err == nil || n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) || r.passed() {
			return n, err
		}
	}
}

// rest waits for a glance, or until the deadline is set or the connection
// closed. It reports whether there is still something to read for: when the
// server's handler has answered meanwhile, the deadline is one long past.
func (r *reading) rest() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.overLocked() {
		return false
	}
	r.resting, r.until = true, time.Now().Add(glance)
	if r.timer == nil {
		r.timer = time.AfterFunc(glance, r.wake)
	} else {
		r.timer.Reset(glance)
	}
	for r.resting {
		r.rested.Wait()
	}
	r.timer.Stop()
	return !r.overLocked()
}

func (r *reading) overLocked() bool { return !r.at.IsZero() && r.at.Before(r.since) }

// wake runs on the timer's goroutine, perhaps for a rest that is over.
func (r *reading) wake() {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch left := time.Until(r.until); {
	case !r.resting:
	case left > 0:
		r.timer.Reset(left)
	default:
		r.wakeLocked()
	}
}

func (r *reading) wakeLocked() {
	r.resting = false
	r.rested.Broadcast()
}

// stop ends a rest: the connection is closed.
func (r *reading) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wakeLocked()
}
