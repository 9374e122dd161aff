package memory

import "time"

const (
	// beat is how often Advance asks to be called at the least while anybody is
	// in line.
	beat = time.Second
	// standstill is how much later than that the next call of any method is when
	// the process, or its machine, has stood still.
	standstill = time.Second
)

// excuse moves the clock to n, unless the process has stood still or, after
// Restore, has not begun to serve: nobody could ask then, so that time does not
// pass for the line, and nobody's presence or place ends by it. It returns when
// it is.
func (l *Line) excuse(n instant) instant {
	due := max(l.promised, l.now)
	if l.starting {
		due = l.now
	}
	if late := n.since(due); late > standstill || l.starting && late > 0 {
		l.stood += late
		n = due
	}
	l.now = max(l.now, n)
	return l.now
}

// serve is begin for what shows that the process serves: a visitor, or Advance.
func (l *Line) serve(now time.Time) instant {
	n := l.begin(now)
	l.starting = false
	return n
}
