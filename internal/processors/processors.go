package processors

import (
	"context"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"time"

	"github.com/andreimerlescu/concert/internal/cputime"
	"github.com/andreimerlescu/concert/internal/ticks"
)

const (
	window = time.Second / 50 // use is measured for
	late   = window / 4       // is so much longer a window that others wanted the processor
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
		ticks.Each(ctx, window, k.look)
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

// keeper belongs to the goroutine that looks.
type keeper struct {
	used  func() (time.Duration, error)
	apply func(one bool)

	at     time.Time     // of the last look
	before time.Duration // used until then
	gauge  gauge
	sample [1]metrics.Sample
}

func newKeeper(now time.Time, used func() (time.Duration, error), apply func(one bool)) *keeper {
	k := &keeper{used: used, apply: apply, at: now}
	k.before, _ = used() // fails nowhere that Keep does anything
	k.sample[0].Name = "/gc/heap/live:bytes"
	return k
}

// look is called once in a window.
func (k *keeper) look(now time.Time) {
	used, _ := k.used() // as above
	passed, spent := now.Sub(k.at), used-k.before
	k.at, k.before = now, used
	if passed > 0 && k.gauge.next(seen{float64(spent) / float64(passed), k.heap(), passed > window+late}) {
		k.apply(k.gauge.one)
	}
}

// heap returns how many bytes lived at the last collection.
func (k *keeper) heap() uint64 {
	metrics.Read(k.sample[:])
	return k.sample[0].Value.Uint64()
}

// apply has the program run on one processor, or on all that it may have.
func apply(one bool) {
	if one {
		runtime.GOMAXPROCS(1)
	} else {
		runtime.SetDefaultGOMAXPROCS()
	}
}
