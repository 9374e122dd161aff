package memory

import (
	"slices"

	"github.com/andreimerlescu/concert/gate"
)

// maxTickets is the most tickets a room holds at once, ended ones included
// that an earlier one keeps in memory.
const maxTickets = 10_000_000

// ticket is one place. Times are Unix seconds.
type ticket struct {
	turn  uint32
	seen  uint32 // when the owner was last heard of
	used  uint32 // when it was first exchanged; 0: not yet
	seat  uint32 // until when the cap counts it; 0: it does not
	flags uint32
}

const (
	// restored: the turn is that of the last save, and a later one may be out.
	restored = 1 << iota
	// asking: admitted, but its seat went to others; it stands in room.late.
	asking
)

// run is a process that gave out tickets, up to a number.
type run struct {
	ID   int64  `json:"run"` // when it started, Unix ms
	Upto uint64 `json:"upto"`
}

// tickets are those of a room by number, which begins at 1.
type tickets struct {
	base uint64 // numbers up to here are forgotten
	list []ticket
	runs []run // in the order of their numbers; the last one is open
}

func (s *tickets) issued() uint64 { return s.base + uint64(len(s.list)) }

// add gives the next number to the process id.
func (s *tickets) add(id int64, sec uint32) gate.Ticket {
	s.list = append(s.list, ticket{seen: sec})
	n := s.issued()
	if last := len(s.runs) - 1; last >= 0 && s.runs[last].ID == id {
		s.runs[last].Upto = n
	} else {
		s.runs = append(s.runs, run{id, n})
	}
	return gate.Ticket{Number: n, Run: id}
}

// at returns ticket n, nil when there is none.
func (s *tickets) at(n uint64) *ticket {
	if n <= s.base || n > s.issued() {
		return nil
	}
	return &s.list[n-s.base-1]
}

// find returns the place that t names.
func (s *tickets) find(t gate.Ticket) *ticket {
	i, _ := slices.BinarySearchFunc(s.runs, t.Number, func(r run, n uint64) int {
		if r.Upto < n {
			return -1
		}
		return 1
	})
	if i == len(s.runs) || s.runs[i].ID != t.Run {
		return nil
	}
	return s.at(t.Number)
}

// forget drops tickets at the beginning for as long as they are over.
func (s *tickets) forget(over func(n uint64, t *ticket) bool) {
	k := 0
	for k < len(s.list) && over(s.base+uint64(k)+1, &s.list[k]) {
		k++
	}
	// A slice that only loses its head keeps its array; what is left moves to a
	// new one when that is worth it.
	s.list, s.base = s.list[k:], s.base+uint64(k)
	if k > 0 && cap(s.list) > 2*len(s.list)+1024 {
		s.list = slices.Clone(s.list)
	}
	for len(s.runs) > 1 && s.runs[0].Upto <= s.base {
		s.runs = s.runs[1:]
	}
}
