package abuse

import (
	"slices"
	"time"
)

// fine is the highest limit up to which every strike is kept by itself. Above
// it, acts within a fine-th of the window share a record, which bounds what a
// client costs.
const fine = 64

// act is one or more strikes.
type act struct {
	at     time.Duration // since the registry began
	weight int
}

// window is the strikes of one client that still count.
type window []act

// add counts weight at the time at and returns the total of the window that
// ends there. An act counts for less than length; one that shares a record is
// forgotten with the oldest of it, so nobody is punished for strikes further
// apart than length.
func (w *window) add(at time.Duration, weight, limit int, length time.Duration) (total int) {
	if n := len(*w); n > 0 {
		at = max(at, (*w)[n-1].at) // callers read the clock before they get the lock
	}
	w.prune(at, length)
	last := len(*w) - 1
	if limit > fine && last >= 0 && at-(*w)[last].at < length/fine {
		(*w)[last].weight = addCapped((*w)[last].weight, weight)
	} else {
		*w = append(*w, act{at, weight})
	}
	for _, a := range *w {
		total = addCapped(total, a.weight)
	}
	return total
}

// prune forgets what no longer counts at the time at.
func (w *window) prune(at, length time.Duration) {
	over := 0
	for over < len(*w) && at-(*w)[over].at >= length {
		over++
	}
	if over > 0 {
		*w = slices.Delete(*w, 0, over)
	}
}

// addCapped adds two weights without overflow.
func addCapped(a, b int) int {
	const most = 1 << 30
	return min(a, most) + min(b, most)
}
