package processors

import "time"

const (
	plenty    = 0.85            // of one processor, used in a window: it needs others beside it
	little    = 0.9             // of one, used while there are all: one would do, which needs less for the same
	shortest  = time.Second     // that all are looked at before there is one
	longest   = 4 * time.Second // likewise, where one has not been enough
	largeHeap = 32 << 20        // bytes
)

// window is what has been seen in a short time.
type window struct {
	length time.Duration
	used   time.Duration // of the processors
	heap   uint64        // bytes that live
	late   bool          // it ended later than it should have: others want the processor
}

// gauge decides between one processor and all.
type gauge struct {
	one    bool
	trial  time.Duration // that all are looked at before there is one
	lasted time.Duration // since the last decision, or since one was out of the question
	used   time.Duration // of the processors in that time
}

func newGauge() gauge { return gauge{trial: shortest} }

// next goes by the last window. It reports whether the decision is another one
// now.
func (g *gauge) next(w window) (changed bool) {
	g.lasted += w.length
	g.used += w.used
	crowded := w.late || w.heap > largeHeap
	switch {
	case g.one && (crowded || float64(w.used) > plenty*float64(w.length)):
		g.retreat()
		return true
	case g.one:
		return false
	case crowded:
		g.lasted, g.used = 0, 0
		return false
	case g.lasted < g.trial:
		return false
	}
	g.one = float64(g.used) < little*float64(g.lasted)
	g.lasted, g.used = 0, 0
	return g.one
}

// retreat takes all processors. Where one was not enough for long, twice as much
// time passes before the next try.
func (g *gauge) retreat() {
	g.trial = min(2*g.trial, longest)
	if g.lasted > longest {
		g.trial = shortest
	}
	g.one, g.lasted, g.used = false, 0, 0
}
