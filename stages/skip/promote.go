package skip

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/pipeline"
)

// maxPayment is the longest payment reference, in bytes.
const maxPayment = 200

// order is the body of POST /_room/promote.
type order struct {
	Ref      string    `json:"ref"`      // the signed reference of the waiting page, or
	ID       *ticketID `json:"id"`       // the ticket's number
	Payment  string    `json:"payment"`  // the payment's own reference; empty: none
	Position *int      `json:"position"` // 1 is next; none: the front
}

// ticketID is a ticket's number, which JSON may also carry as a string: not
// every reader of JSON keeps 64 bits.
type ticketID uint64

// UnmarshalJSON implements json.Unmarshaler.
func (id *ticketID) UnmarshalJSON(b []byte) error {
	text := string(b)
	if n := len(text); n >= 2 && text[0] == '"' && text[n-1] == '"' {
		text = text[1 : n-1]
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return fmt.Errorf("id %s is no ticket number", b)
	}
	*id = ticketID(n)
	return nil
}

// done is the answer to a promotion.
type done struct {
	Promoted  bool   `json:"promoted"`
	ID        string `json:"id"`
	Position  int    `json:"position"` // after the promotion
	Payment   string `json:"payment,omitempty"`
	Repeated  bool   `json:"repeated,omitempty"`   // carried out before
	PassUntil string `json:"pass_until,omitempty"` // RFC 3339
	Room      string `json:"room,omitempty"`       // "paused" or "closed" while nobody is let in
}

// refusal is why a ticket cannot be promoted or priced.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return r.text }

var (
	errUnknown  = &refusal{http.StatusNotFound, "no such ticket in line"}
	errAdmitted = &refusal{http.StatusConflict, "the ticket was used: its owner is in"}
	errEnded    = &refusal{http.StatusGone, "the ticket has ended: its owner left, stayed away or was removed"}
	errPaid     = &refusal{http.StatusConflict, "this payment was for another ticket"}
	errNoSale   = &refusal{http.StatusNotFound, "nothing is for sale"}
)

func invalid(format string, args ...any) error {
	return &refusal{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

// ServePromote answers POST /_room/promote. Whoever calls it must have been
// authorised.
func (s *Stage) ServePromote(v *pipeline.Visit) {
	c := s.settings.Load()
	t, o, err := c.readOrder(v.R.Body)
	if err != nil {
		s.fail(v, err)
		return
	}
	made, repeated, err := s.promote(v.R.Context(), c, t, o, time.Now())
	if err != nil {
		s.fail(v, err)
		return
	}
	if c.Sold != nil { // also for one that is repeated: it may not have been taken down
		c.Sold(made)
	}
	c.Log.Info("ticket promoted", "ticket", made.Ticket, "position", made.Position, "payment", made.Payment, "repeated", repeated)
	writeJSON(v, http.StatusOK, c.answer(made, repeated))
}

// readOrder reads the body and finds out which ticket it is about.
func (c *settings) readOrder(body io.Reader) (t line.Ticket, o order, err error) {
	dec := json.NewDecoder(body)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&o); err != nil {
		return t, o, invalid(`body must be {"ref": …} or {"id": …}, with "payment" and "position" if wanted: %v`, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return t, o, invalid("body must be one JSON object and nothing behind it")
	}
	switch {
	case (o.Ref == "") == (o.ID == nil):
		return t, o, invalid("body must hold either ref or id")
	case len(o.Payment) > maxPayment || !utf8.ValidString(o.Payment):
		return t, o, invalid("payment must be text of at most %d bytes", maxPayment)
	case o.Position != nil && *o.Position < 1:
		return t, o, invalid("position %d is none: 1 is the front", *o.Position)
	case o.ID != nil:
		return line.Ticket{Number: uint64(*o.ID)}, o, nil
	}
	t, authentic := c.ticketOf(o.Ref)
	if !authentic {
		return t, o, errUnknown
	}
	return t, o, nil
}

// promote moves the ticket, unless the payment was carried out before.
func (s *Stage) promote(ctx context.Context, c *settings, t line.Ticket, o order, now time.Time) (made Sale, repeated bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.Payment != "" {
		if made, known := s.sales.get(o.Payment); known {
			if made.Ticket != t.Number {
				return Sale{}, false, errPaid
			}
			s.repeated.Add(1)
			return made, true, nil
		}
	}
	position, err := c.move(ctx, t, o, now)
	if err != nil {
		return Sale{}, false, err
	}
	made = Sale{Payment: o.Payment, Ticket: t.Number, Position: position}
	if o.Payment != "" && c.PassTTL > 0 {
		made.PassUntil = now.Add(c.PassTTL).Unix()
		s.oweLocked(t.Number, made.PassUntil, now)
	}
	if o.Payment != "" {
		s.sales.put(o.Payment, made)
	}
	s.promoted.Add(1)
	return made, false, nil
}

// move brings the ticket to the position asked for and returns where it then
// is. A ticket that is further ahead already stays there.
func (c *settings) move(ctx context.Context, t line.Ticket, o order, now time.Time) (int, error) {
	at, err := c.look(ctx, t, o.Ref != "", now)
	if err != nil {
		return 0, err
	}
	to := 0 // the front, behind those promoted before
	if o.Position != nil {
		to = *o.Position
	}
	if at.Position <= to || at.Promoted && to == 0 {
		return at.Position, nil
	}
	switch err := c.Line.Promote(ctx, now, t, to); {
	case errors.Is(err, line.ErrUnknownTicket): // it left this very moment
		_, err := c.look(ctx, t, o.Ref != "", now)
		return 0, cmp.Or(err, error(errEnded))
	case err != nil:
		return 0, err
	}
	at, err = c.look(ctx, t, o.Ref != "", now)
	if err != nil {
		return 0, err
	}
	return at.Position, nil
}

// look finds the ticket's place, or says what became of it. Of a ticket that
// is merely claimed nothing may be known; one with our signature did exist.
func (c *settings) look(ctx context.Context, t line.Ticket, signed bool, now time.Time) (line.Place, error) {
	st, err := c.Line.Look(ctx, now, t)
	switch {
	case err != nil:
		return line.Place{}, fmt.Errorf("look for ticket %d: %w", t.Number, err)
	case st.Known:
		return st.Place, nil
	case st.Ended == line.EndedAdmitted:
		return line.Place{}, errAdmitted
	case st.Ended != line.EndedUnknown || signed:
		return line.Place{}, errEnded
	}
	return line.Place{}, errUnknown
}

// answer is what the seller is told of a promotion.
func (c *settings) answer(m Sale, repeated bool) done {
	d := done{
		Promoted: true, ID: strconv.FormatUint(m.Ticket, 10), Position: m.Position, Payment: m.Payment, Repeated: repeated,
		Room: roomOf(c.Line.Stats(time.Now()).Settings.Mode),
	}
	if m.PassUntil > 0 {
		d.PassUntil = time.Unix(m.PassUntil, 0).UTC().Format(time.RFC3339)
	}
	return d
}

// fail answers with what is wrong. A line that cannot be reached is worth
// another try, which a payment provider makes by itself.
func (s *Stage) fail(v *pipeline.Visit, err error) {
	s.refused.Add(1)
	status := http.StatusServiceUnavailable
	if r, known := errors.AsType[*refusal](err); known {
		status = r.status
	}
	writeJSON(v, status, map[string]string{"error": err.Error()})
}

// writeJSON answers with JSON that no cache keeps.
func writeJSON(v *pipeline.Visit, status int, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		panic("BUG: skip: answer is not JSON: " + err.Error())
	}
	h := v.W.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	v.W.WriteHeader(status)
	if v.R.Method != http.MethodHead {
		_, _ = v.W.Write(append(body, '\n')) // the client may have left; there is nobody to tell
	}
}
