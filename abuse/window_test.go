package abuse

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func TestWindowSlides(t *testing.T) {
	var w window
	f := func(at time.Duration, weight, want int) {
		t.Helper()
		if got := w.add(at, weight, 20, time.Minute); got != want {
			t.Errorf("at %v: total %d, want %d", at, got, want)
		}
	}
	f(0, 5, 5)
	f(30*time.Second, 5, 10)
	f(time.Minute-1, 1, 11)
	f(time.Minute, 1, 7)
	f(50*time.Second, 1, 8) // a clock read before another caller's
	f(2*time.Minute-1, 1, 3)
	f(time.Hour, 1, 1)
}

func TestWindowTotalsDoNotOverflow(t *testing.T) {
	var w window
	for range 3 {
		if got := w.add(0, math.MaxInt, 10, time.Minute); got <= 0 {
			t.Fatalf("total %d", got)
		}
	}
}

// Above the limit that is kept exactly, a total lies between those of windows
// one 64th apart, and the records stay few.
func TestCoarseWindowIsNeverTooLong(t *testing.T) {
	const length, limit = time.Minute, 5000
	rng := rand.New(rand.NewPCG(1, 2))
	var w window
	var exact []act
	at := time.Duration(0)
	for range 20_000 {
		at += time.Duration(rng.ExpFloat64() * float64(50*time.Millisecond))
		exact = append(exact, act{at, 1 + rng.IntN(5)})
		got := w.add(at, exact[len(exact)-1].weight, limit, length)
		least, most := 0, 0
		for i := len(exact) - 1; i >= 0 && at-exact[i].at < length; i-- {
			most += exact[i].weight
			if at-exact[i].at < length-length/fine {
				least += exact[i].weight
			}
		}
		if got < least || got > most {
			t.Fatalf("at %v: total %d, want %d to %d", at, got, least, most)
		}
		if len(w) > fine+2 {
			t.Fatalf("%d records", len(w))
		}
	}
}
