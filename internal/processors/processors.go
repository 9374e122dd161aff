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

// window is how long use is measured for.
const window = time.Second / 20

// Keep has the program run on as many processors as it needs, from now until
// stop is called, which leaves it all of them. It does nothing when there is one,
// or GOMAXPROCS is in the environment.
func Keep(environ []string) (stop func()) {
	used, err := cputime.Used()
	if err != nil || slices.ContainsFunc(environ, isSetting) || runtime.GOMAXPROCS(0) == 1 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	k := &keeper{use: use{at: time.Now(), used: used}}
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

// use is what had been used of the processors at a time.
type use struct {
	at   time.Time
	used time.Duration
}

// keeper belongs to the goroutine that looks.
type keeper struct {
	use    use
	gauge  gauge
	sample [1]metrics.Sample
}

func (k *keeper) look(now time.Time) {
	used, _ := cputime.Used() // fails when the first did
	was := k.use
	k.use = use{now, used}
	if passed := now.Sub(was.at); passed > 0 && k.gauge.next(float64(used-was.used)/float64(passed), k.heap()) {
		apply(k.gauge.one)
	}
}

// heap returns how many bytes lived at the last collection.
func (k *keeper) heap() uint64 {
	k.sample[0].Name = "/gc/heap/live:bytes"
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
