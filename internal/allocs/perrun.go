package allocs

import (
	"testing"

	"github.com/andreimerlescu/concert/internal/parts"
)

// tries is how often a count is taken before it is believed.
const tries = 3

// PerRun returns how many allocations a call of f makes on average, rounded
// down, over runs calls. It is the least of a few counts, since what the rest of
// the process allocates meanwhile is counted too.
//
// Under the race detector f is called, for its races, and the count is 0: there
// [sync.Pool] drops at random what it was given, so that no count means anything.
func PerRun(runs int, f func()) float64 {
	least := testing.AllocsPerRun(runs, f)
	if parts.Raced() {
		return 0
	}
	for try := 1; try < tries && least > 0; try++ {
		least = min(least, testing.AllocsPerRun(runs, f))
	}
	return least
}
