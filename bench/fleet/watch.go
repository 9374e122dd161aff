package fleet

import (
	"context"
	"sync"
	"time"

	"github.com/andreimerlescu/concert/internal/ticks"
)

// watcher samples how full the origin is, and lets the faults happen.
type watcher struct {
	f       *Fleet
	stop    context.CancelFunc
	wg      sync.WaitGroup
	began   time.Time
	samples []sample
	faults  []spell
}

type sample struct {
	at      time.Duration
	present int
	left    int // visitors not served yet
}

// spell is when a fault began and ended.
type spell struct {
	name     string
	from, to time.Duration
}

func watch(ctx context.Context, f *Fleet) *watcher {
	ctx, stop := context.WithCancel(ctx)
	w := &watcher{f: f, stop: stop, began: time.Now()}
	w.wg.Go(func() { w.sample(ctx) })
	w.wg.Go(func() { w.havoc(ctx) })
	return w
}

// end ends the watch; a fault that is under way is put right.
func (w *watcher) end() *watcher {
	w.stop()
	w.wg.Wait()
	return w
}

func (w *watcher) sample(ctx context.Context) {
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			w.samples = append(w.samples, sample{
				time.Since(w.began), w.f.origin.Stats().Present, w.f.s.Visitors - int(w.f.served.Load()),
			})
		}
	}
}

func (w *watcher) havoc(ctx context.Context) {
	for _, x := range w.f.s.Faults {
		if !ticks.Pause(ctx, x.At-time.Since(w.began)) {
			return
		}
		s := spell{name: x.Name, from: time.Since(w.began)}
		x.Begin(w.f)
		ticks.Pause(ctx, x.For)
		if x.End != nil {
			x.End(w.f)
		}
		s.to = time.Since(w.began)
		w.faults = append(w.faults, s)
	}
}

// judge says how full the origin was between faults, and how long each
// mattered. The beginning, until the origin is full, is not judged either.
func (w *watcher) judge() (utilisation float64, recovery []Recovery) {
	used, n := 0, 0
	spells := append([]spell{{name: "start"}}, w.faults...)
	for k, s := range spells {
		end := time.Duration(1<<62 - 1)
		if k+1 < len(spells) {
			end = spells[k+1].from
		}
		well, ok := w.fullFrom(s.to, end)
		if k > 0 && ok {
			recovery = append(recovery, Recovery{s.name, well - s.from})
		}
		for _, x := range w.samples {
			if ok && x.at >= well && x.at < end && x.left > 2*w.f.s.Cap {
				used += x.present
				n++
			}
		}
	}
	if n == 0 {
		return 0, recovery
	}
	return float64(used) / float64(n) / float64(w.f.s.Cap), recovery
}

// fullFrom is when the origin was full again, within a time.
func (w *watcher) fullFrom(from, to time.Duration) (time.Duration, bool) {
	for i, x := range w.samples {
		if x.at < from {
			continue
		}
		if x.at >= to {
			break
		}
		sum, n := 0, 0
		for _, y := range w.samples[i:] {
			if y.at >= x.at+fullFor {
				break
			}
			sum += y.present
			n++
		}
		if float64(sum) >= fullShare*float64(n*w.f.s.Cap) {
			return x.at, true
		}
	}
	return 0, false
}
