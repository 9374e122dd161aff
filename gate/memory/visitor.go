package memory

import (
	"context"
	"time"

	"github.com/andreimerlescu/concert/gate"
)

// Join implements gate.Store.
func (s *Store) Join(_ context.Context, now time.Time, id string) (st gate.Status, err error) {
	err = s.visit(now, id, func(r *room) error {
		switch {
		case r.state() == gate.Closed:
			return gate.ErrClosed
		case len(r.tickets.list) >= maxTickets:
			return gate.ErrFull
		}
		t := r.tickets.add(s.run, second(now.UnixNano()))
		t.Epoch = r.epoch
		r.tally.queue(r.waiting(), now)
		r.step(now.UnixNano())
		st = r.status(t)
		return nil
	})
	return st, err
}

// Poll implements gate.Store.
func (s *Store) Poll(_ context.Context, now time.Time, id string, t gate.Ticket) (st gate.Status, err error) {
	err = s.visit(now, id, func(r *room) error {
		p, err := r.claim(t, now)
		if err != nil {
			return err
		}
		st = r.next(p, t, now)
		return nil
	})
	return st, err
}

// Resume implements gate.Store.
func (s *Store) Resume(_ context.Context, now time.Time, id string, t gate.Ticket) (st gate.Status, err error) {
	err = s.visit(now, id, func(r *room) error {
		p, err := r.find(t, now)
		if err != nil {
			return err
		}
		st = r.next(p, t, now)
		return nil
	})
	return st, err
}

// Exchange implements gate.Store.
func (s *Store) Exchange(_ context.Context, now time.Time, id string, t gate.Ticket) (g gate.Grant, err error) {
	err = s.visit(now, id, func(r *room) error {
		p, err := r.claim(t, now)
		if err != nil {
			return err
		}
		if !r.mayPass(p, t.Number, now) {
			return gate.ErrNotYet
		}
		p.seen = second(now.UnixNano())
		if p.used == 0 {
			p.used = second(now.UnixNano())
			r.tally.pass(now)
			if r.set.Cap > 0 {
				p.seat = p.used + uint32(r.set.AccessTTLSec) // the heap learns of it when the claim ends
			}
		}
		at := time.Unix(int64(p.used), 0).UTC()
		g = gate.Grant{Ticket: t, Room: r.set, At: at, Until: at.Add(r.set.AccessTTL())}
		return nil
	})
	return g, err
}

// Spend implements gate.Store.
func (s *Store) Spend(_ context.Context, now time.Time, id string, until time.Time) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.frozen {
		return false, gate.ErrAway
	}
	if _, known := s.spent[id]; known {
		return false, nil
	}
	s.spent[id] = until
	s.changed = true
	return true, nil
}

// find returns the place of a ticket that is still good.
func (r *room) find(t gate.Ticket, now time.Time) (*ticket, error) {
	if t.Epoch != r.epoch {
		return nil, gate.ErrGone
	}
	p := r.tickets.find(t)
	sec := second(now.UnixNano())
	switch {
	case p == nil:
		return nil, gate.ErrGone
	case p.used > 0 && p.used+uint32(r.set.AccessTTLSec) <= sec:
		return nil, gate.ErrUsed
	case p.used == 0 && p.seen+uint32(r.set.QueueTTLSec) <= sec:
		return nil, gate.ErrGone
	}
	return p, nil
}

// claim is find for the holder of the latest token. Whoever brings an earlier
// one burns the latest with it: one of the two is not the owner.
func (r *room) claim(t gate.Ticket, now time.Time) (*ticket, error) {
	p, err := r.find(t, now)
	switch {
	case err != nil:
		return nil, err
	case p.flags&restored != 0 && t.Turn >= p.turn:
		p.turn = t.Turn // made after the last save
		p.flags &^= restored
	case t.Turn != p.turn:
		p.turn = max(p.turn, t.Turn) + 1
		p.flags &^= restored
		return nil, gate.ErrBurnt
	}
	return p, nil
}

// next begins the ticket's next turn.
func (r *room) next(p *ticket, t gate.Ticket, now time.Time) gate.Status {
	p.turn = max(p.turn, t.Turn) + 1
	p.flags &^= restored
	p.seen = second(now.UnixNano())
	t.Turn = p.turn
	st := r.status(t)
	if st.Admitted && !r.mayPass(p, t.Number, now) {
		st.Admitted, st.Position, st.ETA = false, 1, -1 // the next free place on the site
		st.PollAfter = gate.MaxPoll / 2
	}
	return st
}

// mayPass reports whether a ticket can be exchanged now. One whose seat went to
// others while it stayed away is first to get the next.
func (r *room) mayPass(p *ticket, n uint64, now time.Time) bool {
	switch {
	case n > r.admitted:
		return false
	case r.set.Cap == 0 || p.used > 0 || p.seat > 0:
		return true
	case p.flags&asking == 0:
		p.flags |= asking
		r.late = append(r.late, n)
		r.seatLate(now.UnixNano())
	}
	return p.seat > 0
}

// status is where ticket t stands.
func (r *room) status(t gate.Ticket) gate.Status {
	st := gate.Status{Ticket: t, Room: r.set, State: r.state(), Admitted: t.Number <= r.admitted, PollAfter: time.Second}
	if st.Admitted {
		return st
	}
	st.Wait(r.admitted, func(n uint64) time.Duration {
		return time.Duration(min(r.meter.until(n-min(n, r.meter.permits)), float64(gate.MaxPoll)))
	})
	return st
}
