package queue

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/andreimerlescu/concert/line"
)

// twinKey is what the requests of one visitor have in common: the ticket they
// all brought, or the admission pass, and the client they come from. A ticket
// copied to another client is no twin there.
type twinKey struct {
	id     [16]byte
	client netip.Prefix
}

func ticketTwin(t line.Ticket, client netip.Prefix) twinKey {
	k := twinKey{client: client}
	t.AppendBytes(k.id[:0])
	return k
}

// known reports whether the request brought anything authentic.
func (k *twinKey) known() bool { return k.id != [16]byte{} }

// Size of the table: a new pair replaces the oldest of its row, after which the
// twins that are still to come get places of their own.
const (
	twinRows  = 256
	twinWidth = 4
)

// twinTable remembers which new place was given to whom lately, so that two
// tabs, and the parallel requests of one page, wait in one place. At the door
// each stands for itself, as each wants a slot. The table is lossy: it saves
// places, and nothing depends on it.
type twinTable [twinRows]twinRow

type twinRow struct {
	// mu guards the fields below. It is held over calls of the line, so that
	// twins come one by one.
	mu    sync.Mutex
	next  int
	pairs [twinWidth]twinPair
}

type twinPair struct {
	key   twinKey
	place line.Ticket
}

func (t *twinTable) row(k *twinKey) *twinRow {
	return &t[binary.BigEndian.Uint64(k.id[:8])%twinRows] // the numbers of tickets differ at their end
}

// placeLocked returns the place given to the key; the zero Ticket when none is
// remembered.
func (r *twinRow) placeLocked(k *twinKey) line.Ticket {
	for i := range r.pairs {
		if r.pairs[i].key == *k {
			return r.pairs[i].place
		}
	}
	return line.Ticket{}
}

func (r *twinRow) rememberLocked(k *twinKey, place line.Ticket) {
	for i := range r.pairs {
		if r.pairs[i].key == *k {
			r.pairs[i].place = place
			return
		}
	}
	r.pairs[r.next] = twinPair{*k, place}
	r.next = (r.next + 1) % twinWidth
}

// ask brings the request before the line. When its ticket is not in line and a
// twin waits in a new place, it shares that place.
func (s *settings) ask(q *visit, now time.Time) error {
	if !q.twin.known() || q.entry.NoPlace {
		return s.enterLine(q, now)
	}
	row := s.twins.row(&q.twin)
	row.mu.Lock()
	defer row.mu.Unlock()
	if place := row.placeLocked(&q.twin); !place.IsZero() {
		if err := s.adopt(q, place); err != nil {
			return err
		}
	}
	err := s.enterLine(q, now)
	if d := &q.decision; err == nil && d.Verdict == line.Waiting && d.Place.Fresh {
		row.rememberLocked(&q.twin, d.Place.Ticket)
	}
	return err
}

// adopt has q use the place of a twin, unless its own ticket is in line.
func (s *settings) adopt(q *visit, place line.Ticket) error {
	if !q.entry.Ticket.IsZero() {
		own, err := s.look(q, q.entry.Ticket)
		if err != nil || own.Known {
			return err
		}
	}
	shared, err := s.look(q, place)
	if err == nil && shared.Known {
		q.entry.Ticket = place
	}
	return err
}

// merge gives up a new place that q got at the door when a twin has one
// already, and answers with the twin's.
func (s *settings) merge(q *visit) error {
	own := &q.decision.Place
	row := s.twins.row(&q.twin)
	row.mu.Lock()
	defer row.mu.Unlock()
	place := row.placeLocked(&q.twin)
	if place.IsZero() || place == own.Ticket {
		row.rememberLocked(&q.twin, own.Ticket)
		return nil
	}
	shared, err := s.look(q, place)
	switch {
	case err != nil:
		return err
	case !shared.Known:
		row.rememberLocked(&q.twin, own.Ticket)
		return nil
	}
	if err := s.cfg.Line.Quit(q.R.Context(), s.cfg.Now(), own.Ticket); err != nil {
		return fmt.Errorf("queue: give back a twin's place: %w", err)
	}
	*own = shared.Place
	return nil
}
