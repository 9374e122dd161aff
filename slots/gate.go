package slots

import (
	"fmt"
	"sync"
	"time"

	"github.com/andreimerlescu/sema"
)

// Outcome says how an [Gate.Acquire] ended. Only Acquired leaves the caller
// holding a slot.
type Outcome uint8

const (
	// Acquired: the caller holds a slot and must release it.
	Acquired Outcome = iota
	// TimedOut: no slot became free within the wait.
	TimedOut
	// Left: the caller went away first. It says nothing about how busy the
	// gate is and must not be held against anybody.
	Left
)

// String returns the outcome in lower case, for logs and metric labels.
func (o Outcome) String() string {
	switch o {
	case Acquired:
		return "acquired"
	case TimedOut:
		return "timed out"
	case Left:
		return "left"
	}
	return fmt.Sprintf("Outcome(%d)", uint8(o))
}

// Gate is a counting gate. Use [New].
type Gate struct {
	mu   sync.Mutex     // guards the fields below
	sema sema.Semaphore // one permit per holder, plus those withheld
	cap  int            // what was asked for; sema's own is never below its count

	// A shrink in progress: sema's capacity = cap + withheld + debt.
	withheld int // permits kept back by the gate
	debt     int // permits still to be kept back, as holders leave

	waiters queue // anybody in it means that sema is full
}

// New returns a gate of n slots. 0 is a gate that lets nobody in; a negative
// n panics.
func New(n int) *Gate {
	g := &Gate{sema: sema.Must(max(n, 1))}
	g.setCapLocked(n) // not shared yet, so the lock is not needed
	return g
}

// TryAcquire takes a slot if one is free and nobody waits for it.
func (g *Gate) TryAcquire() bool {
	g.mu.Lock()
	ok := g.tryLocked()
	g.mu.Unlock()
	return ok
}

// Acquire takes a slot, waiting up to wait for one, or until done is closed.
// A wait of 0 or less only tries. A nil done never closes. When the time runs
// out in the same instant as done closes, the answer is Left.
func (g *Gate) Acquire(done <-chan struct{}, wait time.Duration) Outcome {
	if wait <= 0 {
		if g.TryAcquire() {
			return Acquired
		}
		return refused(done)
	}
	w := g.enter()
	if w == nil {
		return Acquired
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-w.granted:
		return Acquired
	case <-done:
		if g.leave(w) { // granted to someone who is gone: pass it on
			g.Release()
		}
		return Left
	case <-timer.C:
		if g.leave(w) {
			return Acquired
		}
		return refused(done)
	}
}

// refused tells a caller that ran out of time from one that has left.
func refused(done <-chan struct{}) Outcome {
	select {
	case <-done:
		return Left
	default:
		return TimedOut
	}
}

// Release gives a slot back: to the first waiter, to a shrink in progress, or
// to whoever comes next. It panics when no slot is held.
func (g *Gate) Release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inUseLocked() == 0 {
		panic("BUG: slots: released a slot that nobody held")
	}
	switch {
	case g.debt > 0:
		g.debt--
		g.withheld++
	case !g.waiters.empty():
		close(g.waiters.pop().granted) // the permit changes hands
	default:
		g.releaseLocked()
	}
}

// SetCap changes the number of slots to n ≥ 0 and panics below. When it
// shrinks, holders stay and nobody enters until they fit; when it grows,
// waiters enter at once, first come first.
func (g *Gate) SetCap(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.setCapLocked(n)
}

func (g *Gate) setCapLocked(n int) {
	if n < 0 {
		panic(fmt.Sprintf("BUG: slots: capacity %d is negative", n))
	}
	for ; g.withheld > 0; g.withheld-- {
		g.releaseLocked()
	}
	// Sema must have room for every holder, or it forgets them, and for 1.
	room := max(n, g.sema.Len(), 1)
	if room != g.sema.Cap() {
		if err := g.sema.SetCap(room); err != nil {
			panic(fmt.Sprintf("BUG: slots: set the semaphore to %d: %v", room, err))
		}
	}
	g.cap, g.debt = n, room-n
	for g.debt > 0 && g.sema.TryAcquire() { // only when n is 0 and nothing is held
		g.debt--
		g.withheld++
	}
	for !g.waiters.empty() && g.sema.TryAcquire() {
		close(g.waiters.pop().granted)
	}
}

// Cap returns the number of slots asked for last.
func (g *Gate) Cap() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.cap
}

// InUse returns the number of slots held. It is above Cap while a shrink
// waits for holders to leave.
func (g *Gate) InUse() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.inUseLocked()
}

// Waiting returns the number of callers waiting for a slot.
func (g *Gate) Waiting() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.waiters.Len()
}

// enter takes a slot, or else the last place among the waiters: a nil waiter
// means that the slot is held.
func (g *Gate) enter() *waiter {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.tryLocked() {
		return nil
	}
	w := &waiter{granted: make(chan struct{})}
	g.waiters.Push(&w.place, w)
	return w
}

// leave gives up a place among the waiters. It reports true when w was granted
// a slot before it could leave: the caller then holds that slot.
func (g *Gate) leave(w *waiter) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-w.granted:
		return true
	default:
		w.place.Take()
		return false
	}
}

func (g *Gate) tryLocked() bool {
	return g.waiters.empty() && g.sema.TryAcquire()
}

func (g *Gate) inUseLocked() int { return g.sema.Len() - g.withheld }

func (g *Gate) releaseLocked() {
	if err := g.sema.Release(); err != nil {
		panic(fmt.Sprintf("BUG: slots: release a permit: %v", err))
	}
}
