package processors

const (
	plenty    = 0.85     // of one processor, used in a window: it needs others beside it
	little    = 0.9      // used of all in a second: one would do, which needs less for the same
	second    = 50       // windows
	longest   = 4        // seconds that are looked at before the next change to one
	largeHeap = 32 << 20 // bytes
)

// seen is what a window has shown.
type seen struct {
	used float64 // processors
	heap uint64  // bytes that live
	late bool    // it ended later than it should have: somebody else has the processor
}

// gauge decides between one processor and all.
type gauge struct {
	one     bool
	windows int     // since the last decision
	sum     float64 // processors used in each of them, while there are all
	pause   int     // seconds that are looked at before there is one again, less one
}

// next goes by the last window. It reports whether the decision is another one
// now.
func (g *gauge) next(w seen) (changed bool) {
	crowded := w.late || w.heap > largeHeap
	g.windows++
	if g.one {
		return g.needsMore(crowded || w.used > plenty)
	}
	if crowded {
		g.windows, g.sum = 0, 0
		return false
	}
	g.sum += w.used
	if g.windows < second*(g.pause+1) {
		return false
	}
	g.one = g.sum < little*float64(g.windows)
	g.windows, g.sum = 0, 0
	return g.one
}

// needsMore takes all processors if one is not enough. Where that shows soon,
// twice as much time passes before the next try.
func (g *gauge) needsMore(more bool) bool {
	if !more {
		return false
	}
	switch {
	case g.windows > longest*second:
		g.pause = 0
	case g.pause < longest-1:
		g.pause = g.pause*2 + 1
	}
	g.one, g.windows, g.sum = false, 0, 0
	return true
}
