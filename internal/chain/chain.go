// Package chain is lists whose elements have their links in themselves.
//
//	type waiter struct {
//		place chain.Place[waiter]
//	}
//	var all chain.Chain[waiter]
//	all.Push(&w.place, w)
//	w.place.Take()
//
// An element leaves from the middle in constant time, as one of container/list
// does; but there is no second object for each, which the garbage collector
// would mark as well: tables of a hundred thousand clients are in such lists.
//
// Nothing here is safe for concurrent use: whoever has a chain has the lock.
// A chain must not be copied, which go vet looks for.
package chain

// Chain is elements in the order in which they were pushed. The zero value is
// empty.
type Chain[E any] struct {
	_           noCopy
	first, last *Place[E]
	length      int
}

// noCopy has go vet find copies: places know their chain by its address.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// Place is an element's place in a chain: it is in one at the most. The zero
// value is in none.
type Place[E any] struct {
	before, behind *Place[E]
	in             *Chain[E] // nil: in none
	element        *E
}

// Len is how many elements are in the chain.
func (c *Chain[E]) Len() int { return c.length }

// First is the element that was pushed first; nil when there is none.
func (c *Chain[E]) First() *E { return c.first.elementOf() }

// Push puts an element at the end. Its place must be in no chain.
func (c *Chain[E]) Push(p *Place[E], element *E) {
	*p = Place[E]{before: c.last, in: c, element: element}
	if c.last != nil {
		c.last.behind = p
	} else {
		c.first = p
	}
	c.last = p
	c.length++
}

// Take takes the element out of the chain that it is in, if any.
func (p *Place[E]) Take() {
	c := p.in
	if c == nil {
		return
	}
	if p.before != nil {
		p.before.behind = p.behind
	} else {
		c.first = p.behind
	}
	if p.behind != nil {
		p.behind.before = p.before
	} else {
		c.last = p.before
	}
	c.length--
	*p = Place[E]{}
}

// Next is the element behind this one; nil for the last.
func (p *Place[E]) Next() *E { return p.behind.elementOf() }

func (p *Place[E]) elementOf() *E {
	if p == nil {
		return nil
	}
	return p.element
}
