package ipinfo

import (
	"net/netip"
	"sort"
)

// Table is an immutable database of ranges. Build one with [ReadTable].
type Table struct {
	v4     ranges[uint32, uint32]
	v6     ranges[key, uint64]
	owners []owner // each combination once; ranges point into it
}

// owner is what a database says of a network besides its range.
type owner struct {
	asn               uint32
	code, description string
}

// Rows is how many ranges the table has.
func (t *Table) Rows() int { return len(t.v4.spans) + len(t.v6.spans) }

// Lookup implements [Source].
func (t *Table) Lookup(a netip.Addr) (Details, bool) {
	a = a.Unmap()
	switch k := keyOf(a); {
	case a.Is4():
		n := uint32(k.lo)
		i := t.v4.find(int(n>>16), n)
		if i < len(t.v4.spans) && t.v4.spans[i].first <= n {
			s := &t.v4.spans[i]
			return t.details(a, addr4(s.first), addr4(s.last), s.owner), true
		}
	case a.Is6():
		i := t.v6.find(int(k.hi>>48), k.hi)
		// Ranges that end in the same /64 are told apart by their lower half.
		if i < len(t.v6.spans) && t.v6.spans[i].last.less(k) {
			i += sort.Search(len(t.v6.spans)-i, func(n int) bool { return !t.v6.spans[i+n].last.less(k) })
		}
		if i < len(t.v6.spans) && !k.less(t.v6.spans[i].first) {
			s := &t.v6.spans[i]
			return t.details(a.WithZone(""), addr6(s.first), addr6(s.last), s.owner), true
		}
	}
	return Details{}, false
}

func (t *Table) details(a, first, last netip.Addr, i uint32) Details {
	o := &t.owners[i]
	return Details{Addr: a, First: first, Last: last, ASN: o.asn, Code: o.code, Description: o.description}
}

// ranges are those of one family, in order. They hold no pointers, so that the
// collector never walks them.
type ranges[K any, E uint32 | uint64] struct {
	spans []span[K]
	// ends are the upper 64 bits of each span's end (all 32 of IPv4). The
	// search reads nothing else, and many of them share a cache line.
	ends []E
	// index[b] is the first span whose end has b or more as its top 16 bits.
	// It replaces the first steps of the search, each of which would miss the
	// cache.
	index []uint32
}

type span[K any] struct {
	first, last K
	owner       uint32
}

// makeIndex fills the index; shift leaves the top 16 bits of an end.
func (r *ranges[K, E]) makeIndex(shift int) {
	r.index = make([]uint32, 1<<16+1)
	i := 0
	for b := range r.index {
		for i < len(r.ends) && int(r.ends[i]>>shift) < b {
			i++
		}
		r.index[b] = uint32(i)
	}
}

// find returns the first span that ends at n or behind it; b is the top 16 bits
// of n. It halves what is left without branching on the comparison (the
// compiler makes it a conditional move): which way it goes cannot be predicted,
// and guessing wrong costs more than the rest of the step.
func (r *ranges[K, E]) find(b int, n E) int {
	from := int(r.index[b])
	ends := r.ends[from:r.index[b+1]]
	base := 0
	for size := len(ends); size > 0; {
		half := (size + 1) / 2
		next := base + half
		if ends[next-1] < n {
			base = next
		}
		size -= half
	}
	return from + base
}
