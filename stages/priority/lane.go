package priority

import (
	"sync"
	"time"

	"github.com/andreimerlescu/concert/internal/chain"
	"github.com/andreimerlescu/concert/pipeline"
)

const (
	// MaxWaiting is how many visits of one rank may wait in the lane.
	MaxWaiting = 256
	// agedShare: one in so many hand-overs goes to whoever has waited longest.
	agedShare = 4
	// leastPerPass is how many requests a pass may have in the smallest lane:
	// a form sent twice by an impatient finger comes before the first has left.
	leastPerPass = 2
)

// lane is a counting gate whose waiters are served by rank.
type lane struct {
	mu      sync.Mutex // guards the fields below
	cap     int
	held    int
	waiting int
	ranks   [pipeline.NumRanks]chain.Chain[waiter]
	passes  map[uint64]int // requests in the lane by pass
	turns   int            // hand-overs since the last to an aged waiter
	aged    time.Duration  // waiting so long makes a waiter aged
}

// waiter is one visit waiting in the lane.
type waiter struct {
	granted chan struct{} // closed, under the lane's lock, once it holds a slot
	has     bool          // granted is closed
	pass    uint64
	rank    pipeline.Rank
	since   time.Time
	place   chain.Place[waiter]
}

func newLane() *lane {
	return &lane{passes: make(map[uint64]int), turns: agedShare}
}

// adjust sets the capacity and the age at which waiters are favoured.
func (l *lane) adjust(now time.Time, capacity int, aged time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cap, l.aged = capacity, aged
	l.serveLocked(now)
}

// try takes a slot if one is free, which means that nobody waits.
func (l *lane) try(pass uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held >= l.cap || l.crowdedLocked(pass) {
		return false
	}
	l.held++
	l.passes[pass]++
	return true
}

// join has a visit wait for a slot, or takes one that has become free. It
// returns nil when the lane has no room for it.
func (l *lane) join(now time.Time, pass uint64, rank pipeline.Rank) *waiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := &l.ranks[rank]
	if q.Len() >= MaxWaiting || l.crowdedLocked(pass) {
		return nil
	}
	w := &waiter{granted: make(chan struct{}), pass: pass, rank: rank, since: now}
	q.Push(&w.place, w)
	l.waiting++
	l.passes[pass]++
	l.serveLocked(now)
	return w
}

// crowdedLocked reports whether a pass has as many requests here as it may.
func (l *lane) crowdedLocked(pass uint64) bool {
	return l.passes[pass] >= max(leastPerPass, l.cap/2)
}

// leave gives up waiting. It reports true when a slot was granted first: the
// caller then holds it.
func (l *lane) leave(w *waiter) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.has {
		return true
	}
	w.place.Take()
	l.waiting--
	l.forgetLocked(w.pass)
	return false
}

// release gives a slot back: to a waiter, if there is one.
func (l *lane) release(now time.Time, pass uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held--
	l.forgetLocked(pass)
	l.serveLocked(now)
}

func (l *lane) forgetLocked(pass uint64) {
	if l.passes[pass]--; l.passes[pass] == 0 {
		delete(l.passes, pass)
	}
}

// serveLocked hands free slots to waiters.
func (l *lane) serveLocked(now time.Time) {
	for l.held < l.cap && l.waiting > 0 {
		w := l.nextLocked(now)
		w.place.Take()
		l.waiting--
		l.held++
		w.has = true
		close(w.granted)
	}
}

// nextLocked is who gets the next slot: the first of the highest rank, or one
// time in agedShare whoever has waited longest and for long enough.
func (l *lane) nextLocked(now time.Time) *waiter {
	var top, oldest *waiter
	for r := range l.ranks {
		w := l.ranks[r].First()
		if w == nil {
			continue
		}
		if oldest == nil || w.since.Before(oldest.since) {
			oldest = w
		}
		top = w
	}
	if oldest != top && l.turns >= agedShare-1 && now.Sub(oldest.since) >= l.aged {
		l.turns = 0
		return oldest
	}
	l.turns = min(l.turns+1, agedShare)
	return top
}

// gauges returns the lane's size, and how many hold slots and wait.
func (l *lane) gauges() (capacity, held, waiting int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cap, l.held, l.waiting
}
