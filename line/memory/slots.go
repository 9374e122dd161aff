package memory

import (
	"time"

	"github.com/andreimerlescu/concert/line"
)

// slots knows who is at the origin and since when. A slot's number carries a
// generation, so that giving one back twice does nothing.
type slots struct {
	all  []slotRecord
	free int32 // head of the free list, as index + 1; 0: empty
	out  int
}

type slotRecord struct {
	since instant
	gen   uint32 // odd while the slot is out
	next  int32
}

func (s *slots) take(now instant) line.Slot {
	i := s.free - 1
	if i < 0 {
		s.all = append(s.all, slotRecord{})
		i = int32(len(s.all) - 1)
	} else {
		s.free = s.all[i].next
	}
	r := &s.all[i]
	r.since = now
	r.gen++
	s.out++
	return line.Slot(uint64(r.gen)<<32 | uint64(i))
}

// give takes a slot back; ok is false when it is not out.
func (s *slots) give(now instant, slot line.Slot) (held time.Duration, ok bool) {
	i, gen := uint64(slot)&0xffffffff, uint32(slot>>32)
	if i >= uint64(len(s.all)) || s.all[i].gen != gen || gen%2 == 0 {
		return 0, false
	}
	r := &s.all[i]
	r.gen++
	r.next, s.free = s.free, int32(i)+1
	s.out--
	return now.since(r.since), true
}
