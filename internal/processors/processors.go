package processors

import (
	"context"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"time"

	"github.com/andreimerlescu/concert/internal/cputime"
)

const (
	watchful = time.Second / 50     // between two looks
	drowsy   = time.Second / 10     // likewise, while there is next to nothing to do
	late     = 5 * time.Millisecond // is a look so much later, somebody else has the processor
	idle     = 0.02                 // of one processor, used: next to nothing
	heapAge  = time.Second          // how long it is gone by what lived in the heap
)

// Keep has the program run on as many processors as it needs, from now until
// stop is called, which leaves it all of them. It does nothing when there is one,
// or GOMAXPROCS is in the environment.
func Keep(environ []string) (stop func()) {
	if _, err := cputime.Used(); err != nil || slices.ContainsFunc(environ, isSetting) || runtime.GOMAXPROCS(0) == 1 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	k := newKeeper(time.Now(), cputime.Used, apply)
	go func() { // ends with stop
		defer close(done)
		k.watch(ctx)
	}()
	return func() {
		cancel()
		<-done
		apply(false)
	}
}

// isSetting reports whether a variable says how many processors to use.
func isSetting(variable string) bool {
	value, ok := strings.CutPrefix(variable, "GOMAXPROCS=")
	return ok && value != ""
}

// keeper belongs to the goroutine that watches.
type keeper struct {
	used  func() (time.Duration, error)
	apply func(one bool)
	gauge gauge

	at     time.Time     // of the last look
	before time.Duration // used until then
	pause  time.Duration // until the next

	heap   uint64 // bytes that lived at the last collection
	heapAt time.Time
	sample [1]metrics.Sample
}

func newKeeper(now time.Time, used func() (time.Duration, error), apply func(one bool)) *keeper {
	k := &keeper{used: used, apply: apply, gauge: newGauge(), at: now, pause: watchful}
	k.before, _ = used() // fails nowhere that Keep does anything
	k.sample[0].Name = "/gc/heap/live:bytes"
	return k
}

// watch looks again and again until ctx ends.
func (k *keeper) watch(ctx context.Context) {
	timer := time.NewTimer(k.pause)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-timer.C:
			k.look(now)
			timer.Reset(k.pause)
		}
	}
}

func (k *keeper) look(now time.Time) {
	used, _ := k.used() // as above
	w := window{length: now.Sub(k.at), used: used - k.before, heap: k.lives(now)}
	w.late = w.length > k.pause+late
	k.at, k.before, k.pause = now, used, watchful
	if float64(w.used) < idle*float64(w.length) {
		k.pause = drowsy
	}
	if w.length > 0 && k.gauge.next(w) {
		k.apply(k.gauge.one)
	}
}

// lives returns how many bytes lived at the last collection, or at the one before:
// asking costs as much as a look.
func (k *keeper) lives(now time.Time) uint64 {
	if now.Sub(k.heapAt) >= heapAge {
		metrics.Read(k.sample[:])
		k.heap, k.heapAt = k.sample[0].Value.Uint64(), now
	}
	return k.heap
}

// apply has the program run on one processor, or on all that it may have.
func apply(one bool) {
	if one {
		runtime.GOMAXPROCS(1)
	} else {
		runtime.SetDefaultGOMAXPROCS()
	}
}
