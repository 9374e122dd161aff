package crowd

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/andreimerlescu/concert/internal/ticks"
)

// Send starts n visits spread evenly over the given time (0: all at once), each
// on a goroutine of its own, and returns when the last has ended. When the
// context ends no more are started; it returns how many were.
func Send(ctx context.Context, n int, over time.Duration, visit func(ctx context.Context, i int)) int {
	var visits sync.WaitGroup
	defer visits.Wait()
	start := time.Now()
	for i := range n {
		due := start.Add(time.Duration(float64(over) * float64(i) / float64(n)))
		if !ticks.Pause(ctx, time.Until(due)) {
			return i
		}
		visits.Go(func() { visit(ctx, i) })
	}
	return n
}

// Address gives the i-th visitor (from 0) an IPv4 address of its own, out of the
// 131,072 that are set aside for benchmarks (RFC 2544: 198.18.0.0/15).
func Address(i int) string {
	return fmt.Sprintf("198.%d.%d.%d", 18+i>>16&1, i>>8&255, i&255)
}
