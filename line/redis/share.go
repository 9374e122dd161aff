package redisline

import (
	"strconv"
	"time"

	"github.com/andreimerlescu/concert/line"
)

// share is what an instance holds of the slots: how many are lent to it and
// which of them are in use. It is guarded by Line.mu.
type share struct {
	lease int // lent to this instance, in use or not
	used  int
	out   map[line.Slot]held // those in use
	last  line.Slot

	busy    bool // somebody waits: ask for each slot
	busySeq uint64
	next    time.Time // when Redis wants to be called, zero: whenever
	peak    int       // most in use since the last heartbeat

	// What Redis has not been told of: slots given out and come back without
	// asking, the time they were held, and when, as nanoseconds since
	// Line.began.
	grants, ends int
	held         time.Duration
	moments      int64    // sum of the ends' times, less the grants'
	landed       []uint64 // tickets whose slots came back
}

// held is a slot in use.
type held struct {
	since  time.Time
	ticket uint64 // the number it was given for; 0 for none
}

// spare is how many slots are lent and not in use.
func (s *share) spare() int { return max(0, s.lease-s.used) }

// take uses a slot that is lent, for a ticket's owner or, for 0, somebody
// without one.
func (s *share) take(now time.Time, ticket uint64) line.Slot {
	s.used++
	s.peak = max(s.peak, s.used)
	s.last++
	s.out[s.last] = held{now, ticket}
	return s.last
}

// give ends the use of a slot; ok is false when it is not out.
func (s *share) give(slot line.Slot, now time.Time) (held time.Duration, ok bool) {
	h, ok := s.out[slot]
	if !ok {
		return 0, false
	}
	delete(s.out, slot)
	s.used--
	if h.ticket != 0 {
		s.landed = append(s.landed, h.ticket)
	}
	return max(0, now.Sub(h.since)), true
}

// surplus is how many slots to give back for others to borrow: half of what
// goes beyond the latest need and a quarter, and beyond what every instance is
// to have.
func (s *share) surplus(base int) int {
	need := max(s.used, s.peak+s.peak/4+1, base)
	s.peak = s.used
	if s.lease <= need {
		return 0
	}
	return (s.lease - need + 1) / 2
}

// report is what Redis is told with a call, after which it counts as told.
func (s *share) report(back int, at int64) string {
	s.lease -= back
	correction := int64(s.grants-s.ends)*at + s.moments
	b := make([]byte, 0, 64)
	for k, v := range [...]int64{int64(back), int64(s.grants), int64(s.ends), int64(s.held), correction} {
		if k > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendInt(b, v, 10)
	}
	for _, n := range s.landed {
		b = strconv.AppendUint(append(b, ' '), n, 10)
	}
	s.grants, s.ends, s.held, s.moments, s.landed = 0, 0, 0, 0, s.landed[:0]
	return string(b)
}

// quickly admits somebody without asking, while nobody waits.
func (l *Line) quickly(now time.Time, e *line.Entry) (line.Decision, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &l.share
	if s.busy || l.outage.down || !e.Ticket.IsZero() || s.used >= s.lease || !l.mayShare(now) {
		return line.Decision{}, false
	}
	s.grants++
	s.moments -= l.moment(now)
	l.quick.Add(1)
	return line.Decision{Verdict: line.Admitted, Slot: s.take(now, 0)}, true
}

// base is what every instance is to have while nobody waits: half of its even
// part. Called with mu held.
func (l *Line) base() int {
	n := 2 * max(1, len(l.latest.alive))
	return (l.set.Policy.Cap + n - 1) / n
}

// moment is a time as nanoseconds since the line began.
func (l *Line) moment(now time.Time) int64 { return int64(now.Sub(l.began)) }

// mayShare reports whether the share is still this instance's to use: Redis
// was heard of lately. Called with mu held.
func (l *Line) mayShare(now time.Time) bool {
	return now.Sub(l.heard) < shareFor
}
