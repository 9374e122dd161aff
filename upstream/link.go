package upstream

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"time"

	"github.com/andreimerlescu/concert/internal/nonblock"
)

// linkBuffer is how much of an answer is read ahead: the header of most, and
// the whole of a small page.
const linkBuffer = 4 << 10

// link is one connection to the origin, used by one exchange at a time. All of
// it belongs to the goroutine that serves that exchange; the upload's goroutine
// only writes to conn.
type link struct {
	conn   net.Conn
	socket nonblock.Socket // of conn, for reading and writing
	br     *bufio.Reader   // of the link itself, so that reads obey the deadlines
	idleAt time.Time
	armed  time.Time // conn's read deadline; guarded by the exchange's mu while there is one

	// Of step:
	step    func(fd uintptr) bool // a method value, made once
	out     []byte                // what of a request's header has still to be sent
	unfit   bool                  // the connection cannot be used any more
	waiting bool                  // all is sent, and nothing has come yet

	// Of the exchange that has the link:
	e        *exchange
	phase    phase // header, or how the next piece of the body is waited for
	reused   bool
	reusable bool        // once the answer has been read
	sent     bool        // some of the request has left
	heard    bool        // some of the answer has come
	stop     func() bool // lets go of the exchange's context; nil when it is not watched
}

func newLink(conn net.Conn) *link {
	l := &link{conn: conn}
	l.socket.Of(conn)
	l.br = bufio.NewReaderSize(l, linkBuffer)
	l.step = l.turn
	return l
}

// begin gives the link to an exchange.
func (l *link) begin(e *exchange) {
	l.e, l.phase, l.sent, l.heard, l.reusable, l.stop = e, header, false, false, false, nil
	e.link = l
	e.mu.Lock()
	e.watch.link, e.watch.both, e.watch.watched = l, false, e.cancel != nil
	e.mu.Unlock()
	if e.cancel != nil {
		l.guard()
	}
}

// guard has the connection given up when the exchange is given up. It costs more
// than a page does, so it waits until an exchange has lasted for a glance.
func (l *link) guard() {
	l.e.arm()
	if l.stop == nil {
		e := l.e
		l.stop = context.AfterFunc(e.ctx, func() { l.giveUp(e) })
	}
}

// giveUp ends the exchange. When the visitor has left before the answer began,
// the origin is told with the end of our direction, and has its time to answer
// or to close the connection: until then it may be working on the page, and the
// next visit must not be let in on top of it.
func (l *link) giveUp(e *exchange) {
	if half, ok := l.conn.(interface{ CloseWrite() error }); ok && e.waits() && half.CloseWrite() == nil {
		return
	}
	l.close()
}

// unguard reports whether the connection is still its exchange's: not closed,
// and not going to be.
func (l *link) unguard() bool { return l.stop == nil || l.stop() }

// close ends the connection, whoever uses it.
func (l *link) close() { _ = l.conn.Close() } // nothing is lost that anybody waits for

// Read reads from the connection within the exchange's deadlines.
func (l *link) Read(p []byte) (int, error) {
	if l.e == nil {
		return l.socket.Read(p) // a tunnel has its own
	}
	if l.phase != header {
		l.e.await(l.phase, l.e.limit)
	}
	for {
		n, err := l.socket.Read(p)
		if n > 0 {
			l.heard = true
			return n, nil // an error comes again
		}
		if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
			return 0, err
		}
		if !l.again() {
			return 0, errOriginSlow
		}
	}
}

// send sends a request's header. A connection that was used before is looked at
// first: when it is not fit for another request, nothing is sent.
//
// All of it is one turn at the poller: look, write and, unless a body is to
// follow, wait for the answer. A read that finds nothing yet is saved.
func (l *link) send(p []byte) error {
	raw := l.socket.Raw()
	switch {
	case l.reused && l.br.Buffered() > 0:
		return errUnfit
	case raw == nil:
		return l.write(p)
	}
	l.out, l.unfit, l.waiting = p, l.reused, false // unfit until it has been looked at
	err := raw.Read(l.step)
	rest := l.out
	l.out = nil
	switch {
	case l.unfit:
		return errUnfit
	case len(rest) > 0:
		return l.write(rest)
	case errors.Is(err, os.ErrDeadlineExceeded):
		if !l.again() {
			return errOriginSlow
		}
		return nil // whoever reads next goes on waiting
	}
	return err
}

// write writes what of a request's header cannot be sent at once, within the
// exchange's deadlines.
func (l *link) write(p []byte) error {
	l.deadlines(true)
	defer l.deadlines(false) // an upload is slow by the visitor's measure, not the origin's
	for {
		n, err := l.socket.Write(p)
		l.sent = l.sent || n > 0
		p = p[n:]
		if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		if !l.again() {
			return errOriginSlow
		}
	}
}

// deadlines has the exchange's deadlines be for writing, too, or for reading
// only.
func (l *link) deadlines(both bool) {
	e := l.e
	e.mu.Lock()
	defer e.mu.Unlock()
	e.watch.both = both
	if !both {
		_ = l.conn.SetWriteDeadline(time.Time{}) // fails only on a closed connection, as what follows does
		return
	}
	e.watch.start(header, e.p.cfg.HeaderTimeout, e)
}

// again is asked when a deadline has passed. It may have been a first glance
// only, or have been put off meanwhile.
func (l *link) again() bool {
	l.guard()
	e := l.e
	e.mu.Lock()
	defer e.mu.Unlock()
	e.watch.watched = true
	if e.watch.phase == unflushed {
		e.watch.phase = piece
		_ = e.flushLocked() // the next write meets the same error
	}
	return e.watch.renew()
}

// upgraded is a connection that has become a tunnel.
type upgraded struct{ l *link }

func (u upgraded) Read(p []byte) (int, error)  { return u.l.br.Read(p) }
func (u upgraded) Write(p []byte) (int, error) { return u.l.socket.Write(p) }
func (u upgraded) Close() error                { return u.l.conn.Close() }

// CloseWrite ends the direction to the origin.
func (u upgraded) CloseWrite() error {
	if half, ok := u.l.conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}
