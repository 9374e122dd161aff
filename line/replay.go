package line

import "time"

// Replay brings a snapshot up to date with the changes that came after it. It
// is not safe for concurrent use.
type Replay struct {
	s     Snapshot // without its tickets
	nodes []replayNode
	index map[uint64]int32 // by ticket number
}

// replayNode is a ticket in a ring of all of them in line order; the first node
// is none and closes the ring.
type replayNode struct {
	ticket     SavedTicket
	next, prev int32
}

// NewReplay begins with a snapshot, which is not changed.
func NewReplay(s Snapshot) *Replay {
	r := &Replay{
		s: s, nodes: make([]replayNode, 1, len(s.Tickets)+1),
		index: make(map[uint64]int32, len(s.Tickets)),
	}
	r.s.Tickets = nil
	for i := range s.Tickets {
		r.put(&s.Tickets[i], 0)
	}
	return r
}

// Apply applies a change. One that is in the snapshot already has no effect,
// and one about a ticket that is not known does as much as it can.
func (r *Replay) Apply(c Change) {
	if c.Sequence <= r.s.Sequence {
		return
	}
	r.s.Sequence = c.Sequence
	number := c.Ticket.Ticket.Number
	switch c.Kind {
	case Put:
		r.put(&c.Ticket, c.Before)
		r.s.Next = max(r.s.Next, number+1)
		r.seen(c.Ticket.LastSeen)
	case Seen:
		if i, ok := r.index[number]; ok {
			t := &r.nodes[i].ticket
			t.LastSeen, t.PollAfter = c.Ticket.LastSeen, c.Ticket.PollAfter
			t.Polled, t.Absent, t.AtDoor = true, false, false
		}
		r.seen(c.Ticket.LastSeen)
	case Drop:
		if i, ok := r.index[number]; ok {
			r.unlink(i)
			delete(r.index, number)
		}
	}
}

// seen moves the time of the whole on.
func (r *Replay) seen(at time.Time) {
	if at.After(r.s.Taken) {
		r.s.Taken = at
	}
}

// put places a ticket ahead of the one with that number, or at the end.
func (r *Replay) put(t *SavedTicket, before uint64) {
	i, known := r.index[t.Ticket.Number]
	if known {
		r.unlink(i)
		r.nodes[i].ticket = *t
	} else {
		i = int32(len(r.nodes))
		r.nodes = append(r.nodes, replayNode{ticket: *t})
		r.index[t.Ticket.Number] = i
	}
	next := r.index[before] // the ring's end when there is none
	if next == i {
		next = 0
	}
	prev := r.nodes[next].prev
	r.nodes[i].next, r.nodes[i].prev = next, prev
	r.nodes[prev].next, r.nodes[next].prev = i, i
}

func (r *Replay) unlink(i int32) {
	n := r.nodes[i]
	r.nodes[n.prev].next, r.nodes[n.next].prev = n.next, n.prev
}

// Snapshot is the line after the changes that were applied.
func (r *Replay) Snapshot() Snapshot {
	s := r.s
	s.Tickets = make([]SavedTicket, 0, len(r.index))
	for i := r.nodes[0].next; i != 0; i = r.nodes[i].next {
		s.Tickets = append(s.Tickets, r.nodes[i].ticket)
	}
	return s
}
