package abuse

import (
	"hash/maphash"
	"sync/atomic"
)

// index finds the ban of a single client. Reading takes no lock and writes no
// memory, so that a flood from banned clients does not contend for anything;
// writers must exclude each other.
//
// It is a hash table with open addressing and linear probing. A filled slot
// keeps its client for the life of the table: lifting a ban leaves the slot
// with no ban in it. The table is at most half full, so that a probe always
// ends; beyond that a new one takes its place.
type index struct {
	seed  maphash.Seed
	slots atomic.Pointer[[]atomic.Pointer[filled]]
	used  int // slots filled, with a ban or without
	bans  int // slots with a ban
}

// filled is a slot's content; it never changes.
type filled struct {
	id  id
	ban *Ban // nil: none any more
}

const smallestIndex = 64

func newIndex() *index {
	ix := &index{seed: maphash.MakeSeed()} // a random seed: clients choose their own /64
	ix.slots.Store(new(make([]atomic.Pointer[filled], smallestIndex)))
	return ix
}

// find returns the ban of a client, or nil.
func (ix *index) find(c id) *Ban {
	if f := ix.slot(*ix.slots.Load(), c).Load(); f != nil {
		return f.ban
	}
	return nil
}

// slot returns the slot of a client, or the empty one where it belongs.
func (ix *index) slot(slots []atomic.Pointer[filled], c id) *atomic.Pointer[filled] {
	mask := uint64(len(slots) - 1)
	for i := maphash.Comparable(ix.seed, c); ; i++ {
		s := &slots[i&mask]
		if f := s.Load(); f == nil || f.id == c {
			return s
		}
	}
}

// put sets the ban of a client.
func (ix *index) put(c id, b *Ban) {
	slots := *ix.slots.Load()
	s := ix.slot(slots, c)
	old := s.Load()
	if old == nil && 2*(ix.used+1) > len(slots) {
		ix.rebuild()
		ix.put(c, b)
		return
	}
	if old == nil {
		ix.used++
	}
	if old == nil || old.ban == nil {
		ix.bans++
	}
	s.Store(&filled{c, b})
}

// remove takes a client's ban out.
func (ix *index) remove(c id) {
	s := ix.slot(*ix.slots.Load(), c)
	if f := s.Load(); f != nil && f.ban != nil {
		s.Store(&filled{id: c})
		ix.bans--
	}
	if n := len(*ix.slots.Load()); n > smallestIndex && n > 16*ix.bans {
		ix.rebuild() // a flood is over: give its memory back
	}
}

// rebuild replaces the table by one with room for as many bans again. Readers
// that hold the old one see the bans of this moment.
func (ix *index) rebuild() {
	size := smallestIndex
	for size < 4*(ix.bans+1) {
		size *= 2
	}
	slots := make([]atomic.Pointer[filled], size)
	for b := range ix.each {
		c := idOf(b.Client.Addr())
		ix.slot(slots, c).Store(&filled{c, b})
	}
	ix.used = ix.bans
	ix.slots.Store(&slots)
}

// each calls yield for every ban; like find, it takes no lock.
func (ix *index) each(yield func(*Ban) bool) {
	slots := *ix.slots.Load()
	for i := range slots {
		if f := slots[i].Load(); f != nil && f.ban != nil && !yield(f.ban) {
			return
		}
	}
}
