package memory

import (
	"math"
	"time"
)

const (
	foldEvery    = 20 * time.Millisecond // sums are plain within this, decayed beyond
	firstHold    = 200 * time.Millisecond
	minMemory    = time.Second // of the service time, see memory
	maxMemory    = 5 * time.Minute
	rateMemory   = 10 * time.Second
	useMemory    = 5 * time.Second
	holdWeight   = 1.0 / 16
	longestHold  = time.Hour
	enoughDrain  = time.Second // of waiting before the measured drain counts
	drainedToFew = 4
	longestLull  = 5 * time.Second // without a grant that counts in the drain
	longStall    = 2 * time.Minute // after which nobody is told how long it takes
)

// average is a quotient of two sums that forget alike.
type average struct{ num, den float64 }

func (a *average) decay(f float64) { a.num *= f; a.den *= f }

func (a *average) value() float64 {
	if a.den <= 0 {
		return 0
	}
	return a.num / a.den
}

// meter measures what the line does. Time integrals are in nanoseconds.
//
// The service time is slot-time over completions, both decayed alike, which
// is Little's law (L = lambda W) with a memory. Unlike a mean over completed
// holds it sees the holds that do not end, and unlike the age of the slots out
// it is not misled when few slots are held for very long.
type meter struct {
	at     instant // the sums below are complete up to here
	folded instant // and are plain sums since here
	area   float64 // slots out, over time
	ends   float64 // slots given back
	grants float64 // slots given
	wait   float64 // time while somebody waited
	waitGr float64 // slots given meanwhile

	service average // slot-time per completion
	rate    average // admissions per time
	drain   average // admissions per time while somebody waited
	use     average // slot-time per time

	lastGrant instant
	calm      float64       // the service time as of then, in nanoseconds
	hold      time.Duration // smoothed
}

// start assumes a service time until one is measured, with the weight of the
// holds that are out at once: so early holds correct it by their age.
func (m *meter) start(slots int) {
	n := float64(max(1, slots))
	m.service = average{num: n * float64(firstHold), den: n}
	m.calm = float64(firstHold)
}

// advance accounts for the time since the last call.
func (m *meter) advance(now instant, out int, waiting bool, slots int) {
	d := float64(now - m.at)
	if d <= 0 {
		return
	}
	m.area += float64(out) * d
	if waiting {
		m.wait += d - m.lull(now, slots > 0 && out >= slots)
	}
	m.at = now
	if now.since(m.folded) >= foldEvery {
		m.fold(now, slots)
	}
}

// lull is the part of the time up to now, in nanoseconds, that says nothing
// about the drain: every slot has been out for so long that the site hangs. The
// drain stays what it was before.
func (m *meter) lull(now instant, full bool) float64 {
	if !full {
		return 0
	}
	from := m.lastGrant.add(max(longestLull, 2*m.hold))
	return float64(max(0, now-max(m.at, from)))
}

func (m *meter) fold(now instant, slots int) {
	d := float64(now - m.folded)
	if d <= 0 {
		return
	}
	m.folded = now
	if m.area > 0 || m.ends > 0 {
		x := d / m.memory(slots)
		f := math.Exp(-x)
		m.service.decay(f)
		f = (1 - f) / x // what is left, by now, of sums spread over d
		m.service.num += f * m.area
		m.service.den += f * m.ends
	}
	m.rate.decay(math.Exp(-d / float64(rateMemory)))
	m.rate.num += m.grants
	m.rate.den += d
	m.use.decay(math.Exp(-d / float64(useMemory)))
	m.use.num += m.area
	m.use.den += d
	m.drain.decay(math.Exp(-m.wait / float64(rateMemory)))
	m.drain.num += m.waitGr
	m.drain.den += m.wait
	m.area, m.ends, m.grants, m.wait, m.waitGr = 0, 0, 0, 0, 0
}

// memory is how long the service time remembers: several holds, as they were
// before a stall, and long enough to see some end.
func (m *meter) memory(slots int) float64 {
	s := m.service.value()
	if m.hold > 0 {
		s = float64(m.hold)
	}
	d := max(4*s, 16*s/float64(max(1, slots)))
	return min(max(d, float64(minMemory)), float64(maxMemory))
}

func (m *meter) granted(now instant, waiting bool) {
	m.lastGrant = now
	m.calm = m.serviceTime(now, false)
	m.grants++
	if waiting {
		m.waitGr++
	}
}

func (m *meter) ended(hold time.Duration) {
	m.ends++
	if m.hold == 0 {
		m.hold = hold
	}
	m.hold += time.Duration(holdWeight * float64(hold-m.hold))
}

// serviceTime is how long a slot is held, in nanoseconds. While every slot is
// out none can be younger than the last grant, which is what tells a stall.
func (m *meter) serviceTime(now instant, full bool) float64 {
	s := average{num: m.service.num + m.area, den: m.service.den + m.ends}
	v := s.value()
	if s.den <= 0 || v > float64(longestHold) {
		v = float64(longestHold)
	}
	if full {
		v = max(v, float64(now-m.lastGrant))
	}
	return max(v, 1)
}

// until is the time, in nanoseconds, to the rank-th of the next slots given
// back. As they come one by one, the first is nearer by the time since the
// last: which matters when there are few. When the first is overdue, it is
// taken to need as long again as it is late: a page that takes ten times its
// usual time is not about to end at any moment.
func (m *meter) until(now instant, rank float64, slots int, full bool) float64 {
	each := m.serviceTime(now, full) / float64(slots)
	since := float64(now - m.lastGrant)
	if !full {
		return max(0, rank*each-min(each, since))
	}
	first := math.Abs(m.serviceTime(now, false)/float64(slots) - since)
	return max(0, (rank-1)*each+first)
}

// steadyTime is the service time as it was before a stall: the pace at which
// visitors are told to ask again, so that they are there when it ends.
func (m *meter) steadyTime(now instant) float64 {
	s := m.serviceTime(now, false)
	if m.hold > 0 {
		s = min(s, float64(m.hold))
	}
	return max(s, 1)
}

// late is for how long, in nanoseconds, every slot has been out beyond the
// service time as it was when the last was given.
func (m *meter) late(now instant, full bool) float64 {
	if !full {
		return 0
	}
	return max(0, float64(now-m.lastGrant)-m.calm)
}

// stalled reports whether being that late makes any estimate a guess.
func (m *meter) stalled(late float64) bool {
	return late > max(float64(longStall), 2*m.calm)
}

// drainRate is admissions per nanosecond while somebody waits; 0 when not
// enough was seen.
func (m *meter) drainRate() float64 {
	a := average{num: m.drain.num + m.waitGr, den: m.drain.den + m.wait}
	if a.num < drainedToFew || a.den < float64(enoughDrain) {
		return 0
	}
	return a.value()
}
