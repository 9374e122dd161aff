package chain

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/andreimerlescu/concert/internal/allocs"
)

type element struct{ place Place[element] }

// TestAgainstSlices does what it can to two chains, and to slices beside them.
func TestAgainstSlices(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var chains [2]Chain[element]
	var want [2][]*element
	elements := make([]element, 12)
	for range 10_000 {
		e := &elements[r.IntN(len(elements))]
		e.place.Take()
		for i := range want {
			want[i] = slices.DeleteFunc(want[i], func(other *element) bool { return other == e })
		}
		if to := r.IntN(3); to < len(chains) {
			chains[to].Push(&e.place, e)
			want[to] = append(want[to], e)
		}
		for i := range chains {
			check(t, &chains[i], want[i])
		}
	}
}

func check(t *testing.T, c *Chain[element], want []*element) {
	t.Helper()
	var forth, back []*element
	for e := c.First(); e != nil; e = e.place.Next() {
		forth = append(forth, e)
	}
	for p := c.last; p != nil; p = p.before {
		back = append([]*element{p.element}, back...)
	}
	if !slices.Equal(forth, want) || !slices.Equal(back, want) || c.Len() != len(want) {
		t.Fatalf("%v forth, %v back, length %d, want %v", forth, back, c.Len(), want)
	}
}

func TestAllocs(t *testing.T) {
	var c Chain[element]
	e := new(element)
	if n := allocs.PerRun(1000, func() { c.Push(&e.place, e); e.place.Take() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
