package memory

import "math/bits"

// class is what a ticket means to those behind it: see the package comment.
// It is a byte, so that the bytes package counts it.
type class = byte

const (
	absent class = iota
	fresh
	polled
	called
	passed
	door
	guest
	awaited
	classes = 8 // a power of two, so that indexing needs no bounds check
)

// counts says how many tickets there are of each class.
type counts [classes]int32

// live is the number of places: a guest has none.
func (c *counts) live() int {
	return int(c[absent] + c[fresh] + c[polled] + c[called] + c[passed] + c[door] + c[awaited])
}

// present is the number of places whose owner is about.
func (c *counts) present() int { return c.live() - int(c[absent]) }

// claims is the number of tickets a slot is kept for though they are away.
func (c *counts) claims() int { return int(c[polled] + c[called] + c[awaited]) }

// standing is the number of places, real or a guest's, at the door.
func (c *counts) standing() int { return int(c[door] + c[guest]) }

func (c *counts) add(d *counts) {
	for k := range c {
		c[k] += d[k]
	}
}

// fenwick holds prefix sums of counts: node i (from 1) covers the elements
// (i - lowbit(i), i]. After P. M. Fenwick, "A New Data Structure for
// Cumulative Frequency Tables" (1994).
type fenwick struct {
	nodes []counts // nodes[0] is unused
}

// rebuild makes the tree hold sums, in O(n).
func (f *fenwick) rebuild(n int, sum func(k int) *counts) {
	f.nodes = append(f.nodes[:0], counts{})
	for k := range n {
		f.push(sum(k))
	}
}

// push appends an element. Its node covers itself and whole earlier nodes.
func (f *fenwick) push(c *counts) {
	i := len(f.nodes)
	node := *c
	for j := 1; j < i&-i; j <<= 1 {
		node.add(&f.nodes[i-j])
	}
	f.nodes = append(f.nodes, node)
}

// change adds d to element k's count of class c.
func (f *fenwick) change(k int32, c class, d int32) {
	for i := int(k) + 1; i < len(f.nodes); i += i & -i {
		f.nodes[i][c&(classes-1)] += d
	}
}

// prefix sums the elements before k.
func (f *fenwick) prefix(k int32) counts {
	var sum counts
	for i := int(k); i > 0; i &= i - 1 {
		sum.add(&f.nodes[i])
	}
	return sum
}

// search finds the element in which the running total of weigh passes want,
// that is, the first k with weigh(elements 0..k) > want, and the total before
// it. The answer is the number of elements when there is none.
func (f *fenwick) search(want int, weigh func(*counts) int) (k int32, before counts) {
	at := 0
	if len(f.nodes) == 0 {
		return 0, before
	}
	total := 0
	for step := 1 << (bits.Len(uint(len(f.nodes))) - 1); step > 0; step >>= 1 {
		next := at + step
		if next >= len(f.nodes) {
			continue
		}
		if w := weigh(&f.nodes[next]); total+w <= want {
			total += w
			at = next
			before.add(&f.nodes[next])
		}
	}
	return int32(at), before
}
