package queue

import (
	"fmt"

	"github.com/andreimerlescu/concert/cookies"
	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/signed"
)

// appendTicket appends the ticket as its cookie's value.
func (s *settings) appendTicket(dst []byte, t line.Ticket) []byte {
	var payload [line.TicketSize]byte
	return s.cfg.Tickets.AppendToken(dst, t.AppendBytes(payload[:0]))
}

// parseTicket reads a cookie's value and reports whether it is authentic.
func (s *settings) parseTicket(value string) (line.Ticket, bool) {
	t, verdict := s.openTicket(value)
	return t, verdict == signed.Valid
}

func (s *settings) openTicket(value string) (line.Ticket, signed.Verdict) {
	return openTicket(s.cfg.Tickets, value)
}

// openTicket reads a cookie's value. A ticket that is stale, signed by a key not
// known here, is none: anybody can make one.
func openTicket(keys *signed.Keyring, value string) (line.Ticket, signed.Verdict) {
	var buf [line.TicketSize]byte
	payload, verdict := keys.Open(buf[:0], value)
	if verdict != signed.Valid {
		return line.Ticket{}, verdict
	}
	t, ok := line.ReadTicket(payload)
	if !ok {
		return line.Ticket{}, signed.Forged
	}
	return t, signed.Valid
}

// identify finds out which ticket a page request brings and what it shares
// with others of its visitor. A part of a page never uses the ticket: the
// visitor would lose the place to a picture of another tab.
func (s *settings) identify(q *visit) error {
	if !q.caller.mayHold() || q.caller == part {
		return nil
	}
	t, value, err := s.chooseTicket(q)
	switch {
	case err != nil:
		return err
	case !t.IsZero():
		q.entry.Ticket, q.brought, q.value = t, t, value
		q.twin = ticketTwin(t, q.Client.Key)
	case q.Pass.State == pipeline.PassValid, q.Pass.State == pipeline.PassExpired:
		q.twin = twinKey{id: q.Pass.ID, client: q.Client.Key}
	}
	return nil
}

// chooseTicket returns the authentic ticket of the request, and how it came.
// When a browser sends several (set under another path or domain once), the one
// in line wins.
func (s *settings) chooseTicket(q *visit) (chosen line.Ticket, came string, err error) {
	found := 0
	for value := range cookies.Each(q.R.Header, s.ticketCookie) {
		t, verdict := s.openTicket(value)
		if verdict == signed.Stale && s.cfg.Now().Before(s.lenientUntil) {
			q.outdated = true
		}
		if verdict != signed.Valid || t == chosen {
			continue
		}
		if found++; found == 1 {
			chosen, came = t, value
			continue
		}
		st, err := s.look(q, chosen)
		switch {
		case err != nil:
			return line.Ticket{}, "", err
		case st.Known:
			return chosen, came, nil
		}
		chosen, came = t, value
	}
	return chosen, came, nil
}

// look asks after a ticket without counting as a sight of its owner.
func (s *settings) look(q *visit, t line.Ticket) (line.Status, error) {
	st, err := s.cfg.Line.Look(q.R.Context(), s.cfg.Now(), t)
	if err != nil {
		return st, fmt.Errorf("queue: look for ticket %d: %w", t.Number, err)
	}
	return st, nil
}
