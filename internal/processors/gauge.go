package processors

const (
	plenty    = 0.75     // of one processor, used: it needs others beside it
	little    = 0.6      // used of all of them: one would do, which needs less for the same
	calm      = 20       // windows with little in a row, for one processor to be enough
	largeHeap = 32 << 20 // bytes
)

// gauge decides between one processor and all.
type gauge struct {
	one   bool
	quiet int // windows with little so far
}

// next goes by how many processors were used in the last window, and by what
// lives in the heap. It reports whether the decision is another one now.
func (g *gauge) next(used float64, heap uint64) (changed bool) {
	switch {
	case heap > largeHeap, g.one && used > plenty, !g.one && used > little:
		g.quiet = 0
	case g.quiet < calm:
		g.quiet++
	}
	was := g.one
	g.one = g.quiet == calm
	return g.one != was
}
