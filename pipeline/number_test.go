package pipeline

import (
	"strconv"
	"testing"

	"github.com/andreimerlescu/concert/internal/allocs"
)

// TestNumber: each number is told as it is, also those that share a place.
func TestNumber(t *testing.T) {
	for _, n := range []int{
		0, 1, smallNumbers - 1, smallNumbers, smallNumbers + largeNumbers, 1 << 30, 1<<30 + largeNumbers, smallNumbers, -1, -1 - largeNumbers, 0,
	} {
		if got := Number(n); len(got) != 1 || got[0] != strconv.Itoa(n) {
			t.Errorf("%d is told as %q", n, got)
		}
	}
}

func TestNumberAllocatesNothing(t *testing.T) {
	for _, n := range []int{3, 86_400} {
		if got := allocs.PerRun(100, func() { Number(n) }); got != 0 {
			t.Errorf("%d: %v allocations, want none", n, got)
		}
	}
}
