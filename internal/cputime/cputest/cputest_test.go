package cputest

import (
	"runtime"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/internal/cputime"
)

// TestWaitingCostsNothing: time that passes is not counted, work is.
func TestWaitingCostsNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("told on Linux only")
	}
	const work = 5 * time.Millisecond
	r := testing.Benchmark(func(b *testing.B) {
		Report(b, func() {
			for range b.N {
				<-time.After(4 * work)
				for before := used(t); used(t) < before+work; { // asking is work enough
				}
			}
		})
	})
	if got := time.Duration(r.Extra["cpu-ns/op"]); got < work || got > 3*work {
		t.Errorf("%v of work counted as %v in %v", work, got, time.Duration(r.NsPerOp()))
	}
}

func used(t *testing.T) time.Duration {
	d, err := cputime.Used()
	if err != nil {
		t.Fatal(err)
	}
	return d
}
