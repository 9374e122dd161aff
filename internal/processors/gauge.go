package processors

const (
	plenty    = 0.85     // of one processor, used in a window: it needs others beside it
	little    = 0.9      // used of all in a second: one would do, which needs less for the same
	second    = 20       // windows
	longest   = 4        // seconds that are looked at before the next change to one
	largeHeap = 32 << 20 // bytes
)

// gauge decides between one processor and all.
type gauge struct {
	one     bool
	windows int     // since the last decision
	sum     float64 // processors used in each of them, while there are all
	pause   int     // seconds that are looked at before there is one again, less one
}

// next goes by how many processors were used in the last window, and by what
// lives in the heap. It reports whether the decision is another one now.
func (g *gauge) next(used float64, heap uint64) (changed bool) {
	g.windows++
	if g.one {
		return g.needsMore(used > plenty || heap > largeHeap)
	}
	g.sum += used
	if g.windows < second*(g.pause+1) {
		return false
	}
	g.one = g.sum < little*float64(g.windows) && heap <= largeHeap
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
