package drain

import (
	"slices"

	"github.com/andreimerlescu/concert/demo/crowd"
)

// inverted returns the share of pairs of admitted visitors that came in against
// the order of their arrival. The order of admission is the origin's own.
//
// The visitors are taken by arrival, and for each those of before that came in
// later are counted in a binary indexed tree (Fenwick 1994): O(n log n).
func inverted(in []crowd.Result) float64 {
	n := len(in)
	if n < 2 {
		return 0
	}
	byArrival := slices.Clone(in)
	slices.SortStableFunc(byArrival, func(a, b crowd.Result) int { return a.Sent.Compare(b.Sent) })
	ranks := rankBySeq(byArrival)
	tree := make([]int, n+1)
	var pairs int
	for before, rank := range ranks {
		notLater := 0
		for i := rank; i > 0; i -= i & -i {
			notLater += tree[i]
		}
		pairs += before - notLater
		for i := rank; i <= n; i += i & -i {
			tree[i]++
		}
	}
	return float64(pairs) / (float64(n) * float64(n-1) / 2)
}

// rankBySeq returns each visitor's place, from 1, in the order of admission.
func rankBySeq(in []crowd.Result) []int {
	order := make([]int, len(in))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return int(in[a].Seq - in[b].Seq) })
	ranks := make([]int, len(in))
	for place, i := range order {
		ranks[i] = place + 1
	}
	return ranks
}
