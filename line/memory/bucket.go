package memory

import (
	"math"
	"math/bits"
	"time"

	"github.com/andreimerlescu/concert/line"
)

// bucket limits admissions to inflow per interval, at most burst at once. It
// counts in units of 1/inflow nanosecond, in which a permit costs the interval
// exactly: nothing is lost to rounding, however long it runs.
type bucket struct {
	inflow   uint64 // 0: no limit
	interval uint64 // ns, the price of a permit
	full     uint64 // most credit: a burst, and what rounding up to a nanosecond adds
	credit   uint64
	at       instant // credit is complete up to here
}

// configure changes the limit at now. The permits saved so far carry over, as
// far as the new burst allows; a limit that is new starts full.
func (b *bucket) configure(now instant, p line.Policy) {
	b.fill(now)
	old := *b
	*b = bucket{at: now}
	if p.Inflow <= 0 || p.Interval <= 0 {
		return
	}
	b.inflow, b.interval = uint64(p.Inflow), uint64(p.Interval)
	burst := uint64(p.Burst)
	if p.Burst <= 0 {
		burst = b.inflow
	}
	b.full = min(burst, math.MaxInt64/b.interval)*b.interval + b.inflow - 1
	b.credit = b.full
	if old.inflow > 0 {
		saved, rest := old.credit/old.interval, old.credit%old.interval
		part := uint64(float64(rest) / float64(old.interval) * float64(b.interval))
		b.credit = min(b.full/b.interval*b.interval, min(saved, b.full/b.interval)*b.interval+part)
	}
}

// fill adds the credit earned since the last call.
func (b *bucket) fill(now instant) {
	if now <= b.at {
		return
	}
	hi, lo := bits.Mul64(uint64(now-b.at), b.inflow)
	b.at = now
	if hi != 0 || lo > b.full-b.credit {
		b.credit = b.full
		return
	}
	b.credit += lo
}

// permits is how many admissions are allowed now.
func (b *bucket) permits(now instant) int {
	if b.inflow == 0 {
		return math.MaxInt32
	}
	b.fill(now)
	return int(min(b.credit/b.interval, math.MaxInt32))
}

// take uses one permit.
func (b *bucket) take() {
	if b.inflow > 0 {
		b.credit -= b.interval
	}
}

// next is when the next permit comes, after the whole ones there are.
func (b *bucket) next() instant {
	need := b.interval - b.credit%b.interval
	return b.at.add(time.Duration((need + b.inflow - 1) / b.inflow))
}

// fraction is how many admissions are allowed, parts included.
func (b *bucket) fraction() float64 { return float64(b.credit) / float64(b.interval) }

// each is the time between permits, in nanoseconds.
func (b *bucket) each() float64 { return float64(b.interval) / float64(b.inflow) }
