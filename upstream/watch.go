package upstream

import "time"

// phase says what an exchange is waiting for.
type phase uint8

const (
	paused    phase = iota // nothing from the origin
	header                 // the origin owes its response header
	uploading              // it does, but the visitor is being waited for
	piece                  // the origin owes a piece of its body
	unflushed              // the same, and what came before is not flushed yet
)

// flushAfter is how long bytes of an answer of known length may stay in the
// server's buffer while the origin is waited for. Data that streams never
// waits that long, so it costs no further writes; data that drips is passed on.
const flushAfter = time.Millisecond

// glance is how long an exchange may last before its visitor's leaving is
// looked out for. Few last longer, and looking out costs as much as all else.
const glance = 100 * time.Millisecond

// watch is the one clock of an exchange: a timer, or the deadlines of our own
// client's connection. Its fields are guarded by the exchange's mu.
type watch struct {
	timer    *time.Timer
	link     *link // nil: there is a timer
	both     bool  // deadlines are for writing to the link, too
	watched  bool  // the visitor's leaving closes the link
	phase    phase
	deadline time.Time // zero: no limit
}

// start enters a phase that may last for limit; 0 means for ever.
func (w *watch) start(p phase, limit time.Duration, e *exchange) {
	now := time.Now()
	w.phase, w.deadline = p, time.Time{}
	first := limit
	if limit > 0 {
		w.deadline = now.Add(limit)
	}
	if p == unflushed && (limit == 0 || limit > flushAfter) {
		first = flushAfter
	}
	switch {
	case w.link != nil:
		w.set(now, first)
	case first == 0:
	case w.timer == nil:
		w.timer = time.AfterFunc(first, e.expire)
	default:
		w.timer.Reset(first)
	}
}

// set has the link's reader, or writer, ask again when d from now is over; 0
// means never. Of a first glance only the order matters, and setting a deadline
// costs as much as parsing an answer: one that the exchange before has left is
// taken for it when that comes in half the time at the earliest.
func (w *watch) set(now time.Time, d time.Duration) {
	first := !w.watched && (d == 0 || d > glance)
	if first {
		d = glance
	}
	var at time.Time
	if d > 0 {
		at = now.Add(d)
	}
	l := w.link
	switch {
	case w.both:
		_ = l.conn.SetDeadline(at) // fails only on a closed connection, as what follows does
	case first && l.armed.After(now.Add(glance/2)) && !l.armed.After(at):
		return
	default:
		_ = l.conn.SetReadDeadline(at)
	}
	l.armed = at
}

// renew is asked when a deadline of the link's has passed. It sets the next one, or
// reports that it was the last.
func (w *watch) renew() bool {
	if w.phase == paused || w.phase == uploading || w.deadline.IsZero() {
		w.set(time.Time{}, 0)
		return true
	}
	now := time.Now()
	left := w.deadline.Sub(now)
	if left > 0 {
		w.set(now, left)
	}
	return left > 0
}

func (w *watch) pause() {
	w.phase = paused
	w.stop()
}

func (w *watch) stop() {
	if w.link != nil && w.phase == uploading {
		w.set(time.Time{}, 0)
	}
	if w.timer != nil {
		w.timer.Stop()
	}
}

// await starts a phase.
func (e *exchange) await(p phase, limit time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.fresh = false
	e.watch.start(p, limit, e)
}

// expire runs on the timer's goroutine. A timer that was stopped or set anew
// too late fires all the same; the phase and the deadline tell.
func (e *exchange) expire() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over || e.watch.phase == paused || e.watch.phase == uploading {
		return
	}
	if e.watch.phase == unflushed {
		e.watch.phase = piece
		_ = e.flushLocked() // the next write meets the same error
	}
	if e.watch.deadline.IsZero() {
		return
	}
	if left := time.Until(e.watch.deadline); left > 0 {
		e.watch.timer.Reset(left)
		return
	}
	e.cancel(errOriginSlow)
	if e.cut != nil {
		e.cut(errOriginSlow) // also when the visitor left before
	}
}

// uploadBeginsLocked stops the clock on the origin while the visitor's body is
// read.
func (e *exchange) uploadBeginsLocked() {
	if e.watch.phase == header {
		e.watch.phase = uploading
		e.watch.stop()
	}
}

// uploadEndsLocked starts it afresh. An origin that answers while it is being
// sent to cannot be blamed for silence as long as there is something to read.
func (e *exchange) uploadEndsLocked() {
	switch {
	case e.watch.phase == uploading:
		e.watch.start(header, e.p.cfg.HeaderTimeout, e)
	case e.watch.phase >= piece && !e.watch.deadline.IsZero():
		e.watch.deadline = time.Now().Add(e.limit)
	}
}
