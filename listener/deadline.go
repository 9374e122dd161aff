package listener

import (
	"net"
	"sync"
	"time"
)

// deadline is when one direction of a connection is given up.
//
// A server sets nine of them for each request, most of which nobody ever waits
// for, and each costs as much as reading a header. So it is only written down
// here. The connection's own is set while the connection is being used, and
// only when it would come too late; one that comes too early wakes whoever
// waits, who sets the right one and goes on.
type deadline struct {
	conn    net.Conn
	writing bool      // the direction: else reading
	since   time.Time // conn is as old; what is before that has passed long ago

	mu    sync.Mutex // guards the fields below
	at    time.Time  // when to give up; zero for never
	armed time.Time  // the connection's own; zero for none
	users int        // calls under way
}

func (d *deadline) setLocked(at time.Time) error {
	d.at = at
	if d.users == 0 {
		return nil
	}
	return d.armLocked()
}

func (d *deadline) armLocked() error {
	d.armed = d.at
	if d.writing {
		return d.conn.SetWriteDeadline(d.at)
	}
	return d.conn.SetReadDeadline(d.at)
}

// begin is called before the connection is used, and end afterwards.
func (d *deadline) begin() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.users++
	late := !d.at.IsZero() && (d.armed.IsZero() || d.armed.After(d.at))
	if late || !d.armed.IsZero() && d.armed.Before(d.since) {
		_ = d.armLocked() // fails only on a closed connection, as what follows does
	}
}

func (d *deadline) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.users--
}

// passed is asked when the connection's own deadline has ended a call. It
// reports whether that was the one to go by; when not, the call is to be made
// again.
func (d *deadline) passed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.at.IsZero() && !time.Now().Before(d.at) {
		return true
	}
	return d.armLocked() != nil
}
