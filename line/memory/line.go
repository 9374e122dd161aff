package memory

import (
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/andreimerlescu/concert/line"
)

var _ line.Line = (*Line)(nil)

const (
	// lapseBatch bounds the presences that end within one call, so that no
	// call pays for a whole crowd.
	lapseBatch = 256

	eternity = instant(math.MaxInt64)
	never    = instant(math.MinInt64)

	defaultTTL   = 5 * time.Minute
	defaultSweep = 36 * time.Second
)

// Options say what a line begins with.
type Options struct {
	Settings line.Settings
	// Start is the time from which the line runs. Ticket numbers begin at
	// its Unix microseconds, so that a process started later gives higher
	// ones as long as it gives fewer than a million tickets a second.
	Start time.Time
	// Record keeps changes for [Line.Changes], which then must be called again
	// and again.
	Record bool
	// Jitter spreads the poll delays. Nil seeds one at random; a source of
	// the caller's makes a run repeatable. It is used under the line's lock.
	Jitter rand.Source
}

// Line is an in-memory waiting line. The zero Line is not usable: see New.
type Line struct {
	start time.Time
	since uint64 // numbers from here on were given by this process
	wake  chan struct{}

	mu       sync.Mutex    // guards the fields below
	stood    time.Duration // since start, while the process stood still: see standstill
	now      instant       // the latest time seen
	starting bool          // from Restore until the process serves, see excuse
	set      line.Settings
	slab     slab
	order    order
	wheel    wheel
	numbers  map[uint64]int32 // ticket number to slab index
	clients  map[client]int32 // live tickets of each
	stands   map[int32]*stand // requests at the door by slab index, newest first
	atDoor   int              // requests at the door
	slots    slots
	bucket   bucket
	meter    meter
	jitter   *rand.Rand
	number   uint64 // the next ticket's
	ended    *ended

	restored int64 // the key of the last ordinary ticket restored

	reload    time.Duration // smoothed time from a call to coming
	first     newcomers     // what is known of first polls
	keeping   bool          // a free slot is withheld from somebody who came
	keptUntil instant       // until when, if keeping
	promised  instant       // when Advance said it wants to be called
	sweepAt   instant       // when the next sweep begins
	cursor    int32         // where the running sweep goes on; 0: none runs

	returns returns
	// Nobody is let in before holdUntil: see returns.
	holdUntil instant
	journal   journal
	tally     tally
}

// tally holds the counters of line.Stats.
type tally struct {
	queued, admitted, evicted, removed, promoted uint64
	timeouts, refused, passed, returned          uint64
}

// New starts a line. Settings outside their documented ranges are not judged
// here, but a TTL or a Sweep that is not positive becomes 5m or 36s.
func New(o Options) *Line {
	src := o.Jitter
	if src == nil {
		src = rand.NewPCG(rand.Uint64(), rand.Uint64())
	}
	first := uint64(max(1, o.Start.UnixMicro()))
	l := &Line{
		start:    o.Start,
		since:    first,
		wake:     make(chan struct{}, 1),
		numbers:  make(map[uint64]int32),
		clients:  make(map[client]int32),
		stands:   make(map[int32]*stand),
		jitter:   rand.New(src),
		number:   first,
		reload:   firstReload,
		first:    startNewcomers(first),
		promised: eternity,
		returns:  returns{spent: make(map[uint64]struct{})},
		journal:  journal{on: o.Record},
		ended:    new(ended),
	}
	l.order.slab, l.wheel.slab = &l.slab, &l.slab
	l.configure(0, o.Settings)
	l.meter.start(l.set.Policy.Cap)
	return l
}

// configure swaps the settings.
func (l *Line) configure(n instant, s line.Settings) {
	if s.TTL <= 0 {
		s.TTL = defaultTTL
	}
	if s.Sweep <= 0 {
		s.Sweep = defaultSweep
	}
	l.set = s
	l.bucket.configure(n, s.Policy)
	if at := n.add(s.Sweep); l.sweepAt == 0 || at < l.sweepAt {
		l.sweepAt = at
	}
}

// begin opens every method: it moves the clock, ends presences that are over
// and lets in whom that lets in. Called with mu held.
func (l *Line) begin(now time.Time) instant {
	n := l.excuse(l.instant(now))
	l.meter.advance(n, l.slots.out, l.waiting(), l.set.Policy.Cap)
	l.wheel.drain(n, lapseBatch, l.lapse)
	l.overdue(n)
	l.settle(n)
	return n
}

// finish closes every method that changes something. Called with mu held.
func (l *Line) finish(n instant) {
	l.settle(n)
	if at := l.nextEvent(n); at < l.promised {
		l.promised = at
		select {
		case l.wake <- struct{}{}:
		default: // one is on its way
		}
	}
}

// instant is when it is on the line's clock, which does not go on while the
// process stands still.
func (l *Line) instant(t time.Time) instant { return instant(t.Sub(l.start) - l.stood) }

// time converts an instant back.
func (l *Line) time(n instant) time.Time { return l.start.Add(time.Duration(n) + l.stood) }

// waiting reports whether anybody present is not yet let in.
func (l *Line) waiting() bool {
	return l.order.total.present() > 0 || l.order.total[guest] > 0
}

// free is how many may be let in now: negative while a cap that was lowered
// is exceeded, none while those are awaited who come back after a crash.
func (l *Line) free(n instant) int {
	if l.set.Mode != line.Open {
		return 0
	}
	if n < l.holdUntil {
		return 0
	}
	f := math.MaxInt32
	if c := l.set.Policy.Cap; c > 0 {
		f = c - l.slots.out
	}
	return min(f, l.bucket.permits(n))
}

// lapse is called when a ticket's due time has passed: who is late loses the
// claim, who is very late, or was called and did not come, becomes absent.
func (l *Line) lapse(n instant, i int32) {
	at := l.order.find(i)
	k := at.class()
	t := l.slab.at(i)
	if t.has(flagLost) {
		l.forgetLost(i)
		return
	}
	if k == polled {
		l.order.set(at, passed)
		l.wheel.set(i, max(n, t.seen.add(presence(t))))
		return
	}
	l.order.set(at, absent)
	if k == fresh {
		l.first.count(0)
	}
}

// admit gives a slot out.
func (l *Line) admit(n instant) line.Decision {
	l.meter.granted(n, l.waiting())
	l.bucket.take()
	l.tally.admitted++
	return line.Decision{Verdict: line.Admitted, Slot: l.slots.take(n)}
}

// Release gives a slot back. A slot that is not out is ignored.
func (l *Line) Release(now time.Time, s line.Slot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.begin(now)
	held, ok := l.slots.give(n, s)
	if !ok {
		return
	}
	l.meter.ended(held)
	l.finish(n)
}

// Wake receives a value when the time Advance last returned is stale.
func (l *Line) Wake() <-chan struct{} { return l.wake }
