package memory

import (
	"bytes"
	"slices"
)

// chunkSize bounds the tickets of a chunk: small enough to be walked in a
// fraction of a microsecond, large enough to keep the tree small.
const chunkSize = 256

// chunk is a run of tickets in line order.
type chunk struct {
	ord   int32 // place among the chunks
	n     int32
	sum   counts
	ids   [chunkSize]int32
	class [chunkSize]class
}

// index finds ticket i, which must be here.
func (c *chunk) index(i int32) int {
	for k, id := range c.ids[:c.n] {
		if id == i {
			return k
		}
	}
	panic("memory: BUG: ticket is not in its chunk")
}

// order is the line: slab indexes from first to last, each with its class.
type order struct {
	slab  *slab
	pool  []*chunk // by the index that tickets hold; emptied ones are reused
	spare []int32  // indexes of chunks in pool that are not in line
	line  []int32  // chunk indexes in line order; some may be empty
	tree  fenwick  // over line
	total counts
}

// spot is where a ticket lies. It is good until the line is next changed.
type spot struct {
	chunk *chunk
	at    int
}

func (s spot) class() class { return s.chunk.class[s.at] }

// find is where i lies.
func (o *order) find(i int32) spot {
	c := o.pool[o.slab.at(i).chunk]
	return spot{c, c.index(i)}
}

// before counts the tickets ahead of a spot.
func (o *order) before(s spot) counts {
	sum := o.tree.prefix(s.chunk.ord)
	ahead := s.chunk.class[:s.at]
	rest := int32(s.at)
	var one [1]byte
	for k := fresh; k < classes && rest > 0; k++ {
		if s.chunk.sum[k] == 0 {
			continue
		}
		one[0] = k
		n := int32(bytes.Count(ahead, one[:]))
		sum[k] += n
		rest -= n
	}
	sum[absent] += rest
	return sum
}

// set changes the class of the ticket at a spot.
func (o *order) set(s spot, to class) {
	from := s.class()
	if from != to {
		s.chunk.class[s.at] = to
		o.count(s.chunk, from, -1)
		o.count(s.chunk, to, 1)
	}
}

func (o *order) count(c *chunk, k class, d int32) {
	if d == 0 {
		return
	}
	c.sum[k] += d
	o.total[k] += d
	o.tree.change(c.ord, k, d)
}

// push appends i at the end of the line.
func (o *order) push(i int32, k class) {
	if n := len(o.line); n == 0 || o.pool[o.line[n-1]].n == chunkSize {
		o.grow()
	}
	id := o.line[len(o.line)-1]
	o.put(id, int(o.pool[id].n), i, k)
}

// grow appends an empty chunk.
func (o *order) grow() {
	id := o.chunk()
	c := o.pool[id]
	if len(o.line) == 0 {
		o.tree.rebuild(0, nil)
	}
	c.ord = int32(len(o.line))
	o.line = append(o.line, id)
	o.tree.push(&c.sum)
}

// chunk takes an empty chunk from the spares or makes one.
func (o *order) chunk() int32 {
	if n := len(o.spare); n > 0 {
		id := o.spare[n-1]
		o.spare = o.spare[:n-1]
		return id
	}
	o.pool = append(o.pool, new(chunk))
	return int32(len(o.pool) - 1)
}

// put places i at offset at of chunk id, splitting a full one.
func (o *order) put(id int32, at int, i int32, k class) {
	c := o.pool[id]
	if c.n == chunkSize {
		right := o.split(id)
		if at > chunkSize/2 {
			id, at = right, at-chunkSize/2
			c = o.pool[id]
		}
	}
	copy(c.ids[at+1:c.n+1], c.ids[at:c.n])
	copy(c.class[at+1:c.n+1], c.class[at:c.n])
	c.ids[at], c.class[at] = i, k
	c.n++
	o.slab.at(i).chunk = id
	o.count(c, k, 1)
}

// split moves the second half of a full chunk to a new one behind it.
func (o *order) split(id int32) (right int32) {
	right = o.chunk()
	c, d := o.pool[id], o.pool[right]
	const half = chunkSize / 2
	d.n = int32(copy(d.ids[:], c.ids[half:]))
	copy(d.class[:], c.class[half:])
	c.n = half
	for k := range d.n {
		o.slab.at(d.ids[k]).chunk = right
		c.sum[d.class[k]]--
		d.sum[d.class[k]]++
	}
	o.line = slices.Insert(o.line, int(c.ord)+1, right)
	o.reindex()
	return right
}

// reindex numbers the chunks and rebuilds the tree, in O(chunks).
func (o *order) reindex() {
	for k, id := range o.line {
		o.pool[id].ord = int32(k)
	}
	o.tree.rebuild(len(o.line), func(k int) *counts { return &o.pool[o.line[k]].sum })
}

// remove takes i out of the line and returns its class.
func (o *order) remove(i int32) class {
	c := o.pool[o.slab.at(i).chunk]
	at := c.index(i)
	k := c.class[at]
	copy(c.ids[at:c.n-1], c.ids[at+1:c.n])
	copy(c.class[at:c.n-1], c.class[at+1:c.n])
	c.n--
	o.count(c, k, -1)
	if held := o.total.live() + int(o.total[guest]); len(o.line) > 8 && held*8 < len(o.line)*chunkSize {
		o.repack()
	}
	return k
}

// repack fills the chunks again from the front. Called when they are less than
// an eighth full, so that its cost is spread over the removals before it.
func (o *order) repack() {
	old := o.line
	o.line, o.total, o.tree = nil, counts{}, fenwick{}
	for _, id := range old {
		c := o.pool[id]
		for k := range c.n {
			o.push(c.ids[k], c.class[k])
		}
		*c = chunk{}
		o.spare = append(o.spare, id)
	}
	o.trim()
}

// trim gives chunks back to the garbage collector when most are spare.
func (o *order) trim() {
	if len(o.spare) <= len(o.line)+8 {
		return
	}
	pool := make([]*chunk, 0, len(o.line)+8)
	for k, id := range o.line {
		c := o.pool[id]
		pool = append(pool, c)
		for j := range c.n {
			o.slab.at(c.ids[j]).chunk = int32(k)
		}
		o.line[k] = int32(k)
	}
	o.pool, o.spare = pool, nil
}
