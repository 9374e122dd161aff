//go:build unix

package upstream

import (
	"syscall"

	"github.com/andreimerlescu/concert/internal/nonblock"
)

// ownClient: idle connections can be looked at, so they can be trusted with
// requests that must not be sent twice.
const ownClient = true

// turn is what send does when it has the descriptor: first of all look and
// write, and then, when it is called again because something has come, nothing.
// It returns false to wait. What cannot be written now, for whatever reason,
// stays in l.out.
func (l *link) turn(fd uintptr) bool {
	if l.waiting {
		return true
	}
	if l.unfit = l.reused && !quiet(fd); l.unfit {
		return true
	}
	n, _ := nonblock.Send(fd, l.out) // the error comes again, to those who try to write the rest
	if n > 0 {
		l.sent, l.out = true, l.out[n:]
	}
	l.waiting = len(l.out) == 0 && l.e.r.ContentLength == 0
	return !l.waiting
}

// quiet reports whether an idle connection is fit for another request: the
// origin has neither closed it nor said anything unasked, which would be taken
// for the answer. It looks without waiting, and takes nothing away.
func quiet(fd uintptr) bool {
	var b [1]byte
	_, errno := nonblock.Peek(fd, b[:])
	return errno == syscall.EAGAIN
}
