package memory

import (
	"math"
	"sort"
)

// This file finds places in the line by other things than the ticket.

// firstStanding is the first ticket at the door. There must be one.
func (o *order) firstStanding() int32 {
	ord, _ := o.tree.search(0, (*counts).standing)
	c := o.pool[o.line[ord]]
	for k, id := range c.ids[:c.n] {
		if c.class[k] == door || c.class[k] == guest {
			return id
		}
	}
	panic("memory: BUG: nobody at the door where one was counted")
}

// walk visits the places from position first+1 on, in line order, with the
// counts ahead of each, until visit returns false.
func (o *order) walk(first int, visit func(i int32, k class, ahead *counts) bool) {
	ord, ahead := o.tree.search(first, (*counts).live)
	for ; int(ord) < len(o.line); ord++ {
		c := o.pool[o.line[ord]]
		for k, id := range c.ids[:c.n] {
			own := c.class[k]
			if own != guest && ahead.live() >= first && !visit(id, own, &ahead) {
				return
			}
			ahead[own]++
		}
	}
}

// gap is a place between two tickets: before the one at an offset of a chunk,
// or behind everybody when ord is the number of chunks. It is good until the
// line is next changed.
type gap struct{ ord, at int }

// insert places i in a gap.
func (o *order) insert(g gap, i int32, k class) {
	if o.isEnd(g) {
		o.push(i, k)
		return
	}
	o.put(o.line[g.ord], g.at, i, k)
}

func (o *order) isEnd(g gap) bool { return g.ord >= len(o.line) }

// ahead counts the tickets ahead of a gap.
func (o *order) ahead(g gap) counts {
	if o.isEnd(g) {
		return o.total
	}
	return o.before(spot{o.pool[o.line[g.ord]], g.at})
}

// end is the gap behind everybody.
func (o *order) end() gap { return gap{ord: len(o.line)} }

// gapAt is where a ticket has position pos, 1 being the front. It is the end
// when pos is beyond it.
func (o *order) gapAt(pos int) gap {
	ord, ahead := o.tree.search(pos-1, (*counts).live)
	if int(ord) >= len(o.line) {
		return o.end()
	}
	c := o.pool[o.line[ord]]
	n := ahead.live()
	for at := range c.n {
		if c.class[at] == guest {
			continue
		}
		if n++; n == pos {
			return gap{int(ord), int(at)}
		}
	}
	panic("memory: BUG: position not in the chunk it was counted in")
}

// behind is the next place behind a spot of which more is known than that it
// may exist; 0 when there is none.
func (o *order) behind(s spot) int32 {
	at := s.at + 1
	for ord := s.chunk.ord; int(ord) < len(o.line); ord++ {
		c := o.pool[o.line[ord]]
		for ; at < int(c.n); at++ {
			if c.class[at] != guest && !o.slab.at(c.ids[at]).has(flagLost) {
				return c.ids[at]
			}
		}
		at = 0
	}
	return 0
}

// promotedRun counts the promoted tickets at the front of the line, up to the
// first that is not, and reports whether i is one of them.
func (o *order) promotedRun(i int32) (run int, inside bool) {
	o.walk(0, func(j int32, _ class, _ *counts) bool {
		if !o.slab.at(j).has(flagPromoted) {
			return false
		}
		run++
		inside = inside || j == i
		return true
	})
	return run, inside
}

// ordinary reports whether i stands where its key says.
func (o *order) ordinary(i int32) bool { return !o.slab.at(i).has(flagPromoted | flagGuest) }

// key is what ordinary tickets are in line by: the number, less the head start.
func (o *order) key(i int32) int64 {
	return int64(o.slab.at(i).number) - int64(o.slab.origin(i).lead)
}

// gapByKey is the gap ahead of the first ordinary ticket with that key or a
// larger one: at the same key, the later ticket is of the higher rank.
func (o *order) gapByKey(key int64) gap {
	ord := sort.Search(len(o.line), func(k int) bool { return o.lowestFrom(k) >= key })
	if ord > 0 {
		ord-- // the last chunk that begins with a smaller key
	}
	for ; ord < len(o.line); ord++ {
		c := o.pool[o.line[ord]]
		for at, j := range c.ids[:c.n] {
			if o.ordinary(j) && o.key(j) >= key {
				return gap{ord, at}
			}
		}
	}
	return o.end()
}

// lowestFrom is the first ordinary ticket's key from chunk ord on.
func (o *order) lowestFrom(ord int) int64 {
	for ; ord < len(o.line); ord++ {
		c := o.pool[o.line[ord]]
		for _, i := range c.ids[:c.n] {
			if o.ordinary(i) {
				return o.key(i)
			}
		}
	}
	return math.MaxInt64
}

// passAhead takes the claims of those ahead of i and returns how many: who
// was merely awaited stays in the count, who was called and did not come is
// counted no longer.
func (o *order) passAhead(i int32) (n int) {
	own := o.pool[o.slab.at(i).chunk]
	for _, id := range o.line[:own.ord+1] {
		c := o.pool[id]
		if c.sum.claims() == 0 {
			continue
		}
		end := int(c.n)
		if c == own {
			end = c.index(i)
		}
		n += o.passChunk(c, end)
	}
	return n
}

func (o *order) passChunk(c *chunk, end int) int {
	var waited, came int32
	for k := range end {
		switch c.class[k] {
		case polled:
			c.class[k] = passed
			waited++
		case called:
			c.class[k] = absent
			came++
		}
	}
	o.count(c, polled, -waited)
	o.count(c, passed, waited)
	o.count(c, called, -came)
	o.count(c, absent, came)
	return int(waited + came)
}
