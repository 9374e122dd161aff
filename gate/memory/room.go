package memory

import (
	"container/heap"
	"time"

	"github.com/andreimerlescu/concert/gate"
)

// room is one room's line.
type room struct {
	set      gate.Room
	paused   bool
	epoch    int64
	tickets  tickets
	admitted uint64 // numbers up to here are let in
	flood    uint64 // up to here whatever the rate
	meter    meter
	seats    seats
	late     []uint64 // admitted ones whose seats went to others, first come first
	tally    tally
}

func newRoom(set gate.Room, epoch int64, now time.Time) *room {
	return &room{set: set, epoch: epoch, meter: newMeter(&set, now.UnixNano())}
}

func (r *room) state() gate.State { return r.set.State(r.paused) }

func (r *room) waiting() uint64 { return r.tickets.issued() - r.admitted }

// advance lets in whom the time up to now allows. Seats that came free on the
// way are filled at the time they did, so that it does not matter how seldom it
// is called.
func (r *room) advance(now time.Time) {
	n := now.UnixNano()
	if r.set.Cap > 0 {
		for until, ok := r.seats.first(); ok && int64(until)*1e9 <= n; until, ok = r.seats.first() {
			at := max(r.meter.at, int64(until)*1e9)
			r.step(at)
			r.free()
			r.step(at)
		}
	}
	r.step(n)
}

// step lets in at one moment.
func (r *room) step(at int64) {
	if r.state() != gate.Open {
		r.meter.skip(at)
		return
	}
	r.meter.earn(at)
	r.seatLate(at)
	if r.flood > r.admitted {
		r.admit(min(r.flood-r.admitted, r.places()), at)
	}
	n := min(r.waiting(), r.meter.permits, r.places())
	r.admit(n, at)
	r.meter.permits -= n
	r.meter.clamp()
}

// places is how many more the cap allows.
func (r *room) places() uint64 {
	if r.set.Cap == 0 {
		return r.waiting() // everybody
	}
	return uint64(max(0, r.set.Cap-r.seats.taken))
}

// admit lets in the next n.
func (r *room) admit(n uint64, at int64) {
	for ; r.set.Cap > 0 && n > 0; n-- {
		r.admitted++
		r.seat(r.admitted, at)
	}
	r.admitted += n
}

// seat counts a ticket from now on, for as long as it takes to come.
func (r *room) seat(n uint64, at int64) {
	if t := r.tickets.at(n); t != nil {
		t.seat = second(at + int64(gate.ClaimTime))
		t.flags &^= asking
		r.seats.take(t.seat, n)
	}
}

// seatLate gives seats to those who were let in, came too late and ask again.
func (r *room) seatLate(at int64) {
	for len(r.late) > 0 && r.places() > 0 {
		r.seat(r.late[0], at)
		r.late = r.late[1:]
	}
}

// free ends the first seat, unless its time was extended.
func (r *room) free() {
	e := r.seats.pop()
	t := r.tickets.at(e.number)
	switch {
	case t == nil || t.seat == 0: // counted no longer
	case t.seat > e.until:
		r.seats.take(t.seat, e.number)
	default:
		t.seat = 0
	}
}

// configure changes the settings at a time that advance has come to.
func (r *room) configure(set gate.Room, now time.Time) {
	had := r.set.Cap
	r.set = set
	r.meter.configure(&set)
	if (had > 0) != (set.Cap > 0) {
		r.recount(second(now.UnixNano()))
	}
	r.step(now.UnixNano())
}

// recount counts who is on the site, when a cap comes or goes.
func (r *room) recount(now uint32) {
	r.seats, r.late = seats{}, nil
	for n := r.tickets.base + 1; n <= r.admitted; n++ {
		t := r.tickets.at(n)
		t.seat, t.flags = 0, t.flags&^asking
		if until := t.used + uint32(r.set.AccessTTLSec); r.set.Cap > 0 && t.used > 0 && until > now {
			t.seat = until
			r.seats.take(until, n)
		}
	}
}

// over reports whether ticket n has ended.
func (r *room) over(n uint64, t *ticket, now uint32) bool {
	switch {
	case n > r.admitted:
		return false
	case t.used > 0:
		return t.used+uint32(r.set.AccessTTLSec) <= now && t.seat <= now
	}
	return t.seen+uint32(r.set.QueueTTLSec) <= now && t.seat <= now
}

// second is a time in Unix seconds, rounded up.
func second(ns int64) uint32 { return uint32((ns + 1e9 - 1) / 1e9) }

// seats are the tickets that the cap counts, by the time that ends.
type seats struct {
	taken int
	queue seatQueue
}

type seatEnd struct {
	until  uint32
	number uint64
}

func (s *seats) take(until uint32, n uint64) {
	s.taken++
	heap.Push(&s.queue, seatEnd{until, n})
}

func (s *seats) first() (until uint32, ok bool) {
	if len(s.queue) == 0 {
		return 0, false
	}
	return s.queue[0].until, true
}

func (s *seats) pop() seatEnd {
	s.taken--
	return heap.Pop(&s.queue).(seatEnd)
}

// seatQueue is a heap of ends.
type seatQueue []seatEnd

func (q seatQueue) Len() int           { return len(q) }
func (q seatQueue) Less(i, j int) bool { return q[i].until < q[j].until }
func (q seatQueue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *seatQueue) Push(x any)        { *q = append(*q, x.(seatEnd)) }
func (q *seatQueue) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	*q = (*q)[:last]
	return e
}
