package memory

import (
	"math"
	"math/bits"

	"github.com/andreimerlescu/concert/gate"
)

// meter says how many may be let in: inflow per interval, exactly. Beside
// whole permits it keeps the part of the next one, in units in which a permit
// costs the interval; nothing is lost to rounding, however long it runs.
type meter struct {
	inflow   uint64
	interval uint64 // ns, the price of a permit
	burst    uint64
	permits  uint64
	part     uint64 // below interval
	at       int64  // Unix ns; complete up to here
}

// newMeter starts full: a room that opens lets a burst in.
func newMeter(r *gate.Room, now int64) meter {
	m := meter{at: now}
	m.configure(r)
	m.permits = m.burst
	return m
}

// configure changes the rate from now on. What was earned carries over as far
// as the new burst allows, the part of a permit in proportion.
func (m *meter) configure(r *gate.Room) {
	interval := uint64(r.Interval())
	if m.interval > 0 {
		hi, lo := bits.Mul64(m.part, interval)
		m.part, _ = bits.Div64(hi, lo, m.interval) // part < m.interval, so the quotient is below interval
	}
	m.inflow, m.interval, m.burst = uint64(r.Inflow), interval, uint64(r.MostAtOnce())
	m.clamp()
}

// earn adds what the time up to now brings, however much that is: who waits
// takes it, and clamp drops the rest.
func (m *meter) earn(now int64) {
	if now <= m.at {
		return
	}
	hi, lo := bits.Mul64(uint64(now-m.at), m.inflow)
	m.at = now
	lo, carry := bits.Add64(lo, m.part, 0)
	if hi += carry; hi >= m.interval {
		m.permits, m.part = math.MaxUint32, 0 // more than there are tickets
		return
	}
	var earned uint64
	earned, m.part = bits.Div64(hi, lo, m.interval)
	m.permits = min(m.permits+earned, math.MaxUint32)
}

// skip lets the time up to now bring nothing.
func (m *meter) skip(now int64) { m.at = max(m.at, now) }

// clamp drops what nobody took beyond a burst.
func (m *meter) clamp() {
	if m.permits >= m.burst {
		m.permits, m.part = m.burst, 0
	}
}

// until is the time, in ns, until n more permits than now have been earned.
func (m *meter) until(n uint64) float64 {
	return (float64(n)*float64(m.interval) - float64(m.part)) / float64(m.inflow)
}
