package memory

import (
	"math"
	"time"

	"github.com/andreimerlescu/concert/line"
)

const (
	forever = time.Duration(math.MaxInt64)

	// A newcomer or waiting visitor asks again after this share of the time
	// to its turn, so that several polls correct a wrong estimate; or sooner,
	// as long as the whole line asks no more often than pollsPerSecond.
	pollShare      = 0.6
	pollsPerSecond = 500
	minPoll        = time.Second
	// Nobody asks again before calmShare of the time to the turn is over, or
	// calmPoll if that is less.
	calmShare = 0.05
	calmPoll  = 5 * time.Second
	lateBy    = 200 * time.Millisecond // on the way, before a visitor is late
	idlePoll  = 2 * time.Second        // the least while nobody is let in
	maxPoll   = 90 * time.Second
	jitterBy  = 0.1

	// maxHorizon bounds how far ahead of the turn somebody is called whose
	// own pace is slow, and how much longer a request may stand at the door.
	maxHorizon = 10 * time.Second

	firstReload  = 250 * time.Millisecond
	minReload    = 20 * time.Millisecond
	maxReload    = 2 * time.Second
	reloadWeight = 0.1
	// Somebody called counts as coming for this many reload times.
	claimReloads = 4
)

// outlook is when a ticket's turn is expected.
type outlook struct {
	rank float64 // weight to be let in up to and with this one, beyond what is free
	turn time.Duration
	pace time.Duration // the same if a stall ended now
	wait time.Duration // turn, from what was measured before a stall, without the stall
}

// outlook judges a place by the counts ahead of it.
func (l *Line) outlook(n instant, ahead *counts) outlook {
	return l.outlookIf(n, ahead, l.first.share())
}

// outlookIf is outlook if the given share of those who have yet to ask for the
// first time came.
func (l *Line) outlookIf(n instant, ahead *counts, share float64) outlook {
	w := float64(ahead[polled]+ahead[called]+ahead[passed]+ahead[door]+ahead[guest]+ahead[awaited]) +
		share*float64(ahead[fresh])
	o := outlook{rank: math.Inf(-1)}
	turn, pace, wait := 0.0, 0.0, 0.0
	if c := l.set.Policy.Cap; c > 0 {
		free := c - l.slots.out
		r := w - float64(free) + 1
		o.rank = r
		turn = l.meter.until(n, max(r, 0), c, free <= 0)
		pace = max(r, 0) / float64(c) * l.meter.steadyTime(n)
		wait = max(r, 0) / float64(c) * l.meter.calm
	}
	if l.bucket.inflow > 0 {
		l.bucket.fill(n)
		r := w - l.bucket.fraction() + 1
		o.rank = max(o.rank, r)
		r = max(r, 0) * l.bucket.each()
		turn, pace, wait = max(turn, r), max(pace, r), max(wait, r)
	}
	o.turn, o.pace, o.wait = duration(turn), duration(pace), duration(wait)
	if l.set.Mode != line.Open {
		o.turn = forever
	}
	return o
}

// duration converts nanoseconds, however many.
func duration(ns float64) time.Duration {
	if ns >= float64(forever) {
		return forever
	}
	return time.Duration(ns)
}

// comes reports whether somebody of that outlook should come now, who would
// otherwise be back only after limit: when the turn is sooner than that and
// the door has room for everybody ahead, or when a slot is free and nobody is
// at hand to take it. Where there is no door to stand at, who is called must be
// let in.
func (l *Line) comes(n instant, o outlook, ahead *counts, limit time.Duration) bool {
	if l.near(o, limit) {
		return true
	}
	t := &l.order.total
	return l.set.Mode == line.Open && l.free(n) > t.standing()+int(t[called]+t[awaited]) &&
		(l.set.DoorMax > 0 || l.clear(n, ahead))
}

// near reports whether the turn of somebody of that outlook is at most limit
// away, and the door has room for everybody ahead.
func (l *Line) near(o outlook, limit time.Duration) bool {
	return l.set.Mode == line.Open && o.turn <= limit && o.rank <= float64(l.set.DoorMax)
}

// patience is how near a newcomer's turn must be for it to stand at the door
// at once. It is a little more than the door's: pages that keep a pace of their
// own first ask after three seconds or somewhat more, and between those and the
// ones who stood at the door there must be no gap.
func (l *Line) patience(back time.Duration) time.Duration {
	return max(l.set.DoorWait*5/4, l.horizon(back))
}

// horizon is how near the turn must be for a visitor to come now who would
// otherwise be back after a time: that time, with a margin for the estimates
// and the reload that follows the call.
func (l *Line) horizon(back time.Duration) time.Duration {
	return min(back, maxHorizon)*13/10 + 300*time.Millisecond + l.reload
}

// backIn is when a visitor asks again who is told to do so after p.
func backIn(t *ticket, p time.Duration) time.Duration {
	if t.has(flagOwnPace) {
		return time.Duration(t.gap) * time.Millisecond
	}
	return p
}

// pollAfter draws when to ask again. Whoever has not asked before is given no
// more than half the grace it has to do so.
func (l *Line) pollAfter(o outlook, first bool) time.Duration {
	least := minPoll
	if l.set.Mode != line.Open {
		least = idlePoll
	}
	most := min(maxPoll, l.set.TTL/3)
	if g := l.set.FirstPollGrace; first && g > 0 {
		most = min(most, g/2)
	}
	d := min(pollShare*float64(o.pace), float64(l.order.total.live())*float64(time.Second)/pollsPerSecond)
	d = max(d, min(calmShare*float64(o.pace), float64(calmPoll)))
	d = min(max(d, float64(least)), float64(max(most, least)))
	d *= 1 - jitterBy + 2*jitterBy*l.jitter.Float64()
	if d < float64(least) { // never too soon, but still spread
		d = float64(least) * (1 + jitterBy*l.jitter.Float64())
	}
	return time.Duration(d).Truncate(time.Millisecond)
}

// eta is the expected wait at a position; negative when it cannot be told.
// While the site hangs it is what it was before, and the stall is taken to last
// as long again as it has lasted.
func (l *Line) eta(position int, o outlook) time.Duration {
	if l.set.Mode != line.Open {
		return -1
	}
	if o.rank <= 0 {
		return 0
	}
	c := l.set.Policy.Cap
	late := l.meter.late(l.now, c > 0 && l.slots.out >= c)
	d := float64(o.turn)
	if late > 0 {
		d = float64(o.wait)
	}
	if r := l.meter.drainRate(); r > 0 {
		d = float64(position) / r
	}
	if d += late; d > float64(24*time.Hour) || l.meter.stalled(late) {
		return -1
	}
	return duration(d)
}

// expected is when a visitor is next to be seen, after now.
func expected(t *ticket) time.Duration {
	return backIn(t, time.Duration(t.asked)*time.Millisecond)
}

// claimFor is how long a visitor who was seen has a claim: until a little
// after it is to be seen again. Whoever is late is not waited for.
func claimFor(t *ticket) time.Duration {
	return expected(t)*11/10 + lateBy
}

// presence is how long a visitor counts as present after being seen.
func presence(t *ticket) time.Duration { return expected(t)*3/2 + time.Second }

// learnGap learns the pace at which a visitor polls: whether it asks when it
// is told to, or keeps a pace of its own. Where both would explain what was
// seen, it is taken to be as obedient as the crowd. One long gap counts at
// once and shorter ones slowly: called too early somebody stands at the door
// for a while, called too late the slot is lost.
func learnGap(t *ticket, since time.Duration, obedientCrowd bool) {
	gap, last := int32(min(since/time.Millisecond, math.MaxInt32)), t.gap
	obeys := gap >= t.asked*9/10 && gap <= t.asked*11/10+400
	keeps := last == 0 || max(gap-last, last-gap) <= last/4+100
	t.gap = max(gap, (last*7+gap*3)/10)
	t.flags &^= flagOwnPace
	if !obeys || keeps && !obedientCrowd {
		t.flags |= flagOwnPace
	}
}

// learnReload learns how long the called take to come.
func (l *Line) learnReload(d time.Duration) {
	d = min(max(d, minReload), maxReload)
	l.reload += time.Duration(reloadWeight * float64(d-l.reload))
}

// claimTime is how long the called count as coming.
func (l *Line) claimTime() time.Duration { return claimReloads * l.reload }

// keepTime is how long a free slot is kept for those ahead of the first at
// the door: two reloads, or a service time as long as the door has patience.
func (l *Line) keepTime(n instant) time.Duration {
	hold := duration(l.meter.serviceTime(n, false))
	return max(2*l.reload, min(hold, l.set.DoorWait))
}
