package skip

import (
	"encoding/binary"
	"net/http"
	"strconv"
	"time"

	"github.com/andreimerlescu/concert/cookies"
	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/signed"
)

// passSize is the size of a pass's payload: the number of the ticket it was
// bought with (8 bytes), its expiry in unix seconds (8), the client's address
// (16) and how much of it counts (1), and the id of the admission pass (16).
// Numbers are big-endian.
const passSize = 8 + 8 + 16 + 1 + 16

// vipPass is a VIP pass, and whose it is.
type vipPass struct {
	ticket uint64 // that it was bought with: the pass's own name
	until  int64  // unix seconds
	client [17]byte
	admit  [16]byte // zero while its owner has no admission pass
}

// clientOf is the visit's client as a pass has it.
func clientOf(v *pipeline.Visit) (c [17]byte) {
	if k := v.Client.Key; k.IsValid() {
		a := k.Addr().As16()
		copy(c[:], a[:])
		c[16] = byte(k.Bits())
	}
	return c
}

// hasAdmission reports whether the visit brings an authentic admission pass.
func hasAdmission(v *pipeline.Visit) bool {
	return v.Pass.State == pipeline.PassValid || v.Pass.State == pipeline.PassExpired
}

func (p *vipPass) appendPayload(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, p.ticket)
	dst = binary.BigEndian.AppendUint64(dst, uint64(p.until))
	dst = append(dst, p.client[:]...)
	return append(dst, p.admit[:]...)
}

// parsePass reads what appendPayload wrote; anything else is not ours.
func parsePass(b []byte) (p vipPass, ok bool) {
	if len(b) != passSize {
		return p, false
	}
	p.ticket = binary.BigEndian.Uint64(b)
	p.until = int64(binary.BigEndian.Uint64(b[8:]))
	copy(p.client[:], b[16:])
	copy(p.admit[:], b[33:])
	return p, true
}

// bind makes the pass that of the visit's visitor.
func (p *vipPass) bind(v *pipeline.Visit) {
	p.client = clientOf(v)
	if hasAdmission(v) {
		p.admit = v.Pass.ID
	}
}

// owns reports whether the visit is of the pass's owner: it brings the
// admission pass or the ticket that the pass is bound to, or comes from the
// same client. One of them is enough: phones change networks, and cookies run
// out.
func (c *settings) owns(p *vipPass, v *pipeline.Visit) bool {
	return hasAdmission(v) && p.admit == v.Pass.ID || p.client == clientOf(v) || c.brings(v, p.ticket)
}

// brings reports whether the visit brings the ticket with that number.
func (c *settings) brings(v *pipeline.Visit, number uint64) bool {
	for value := range cookies.Each(v.R.Header, c.TicketCookie) {
		if t, authentic := c.Ticket(value); authentic && t.Number == number {
			return true
		}
	}
	return false
}

// pass returns the pass in force that the visit brings and that is its
// visitor's. Of several cookies of the name any will do. strange says that
// there is one that is somebody else's, which then is p. With passes switched
// off none is in force.
func (c *settings) pass(v *pipeline.Visit) (p vipPass, own, strange bool) {
	if c.PassTTL == 0 {
		return p, false, false
	}
	for value := range cookies.Each(v.R.Header, cookieName) {
		var buf [passSize]byte
		payload, verdict := c.Passes.Open(buf[:0], value)
		if verdict != signed.Valid {
			continue
		}
		q, ours := parsePass(payload)
		if !ours || q.until <= v.Start.Unix() {
			continue
		}
		if c.owns(&q, v) {
			return q, true, false
		}
		p, strange = q, true
	}
	return p, false, strange
}

// setPass sends a pass, bound to the visit's visitor.
func (c *settings) setPass(v *pipeline.Visit, h http.Header, p vipPass) {
	p.bind(v)
	var payload [passSize]byte
	var buf [320]byte
	b := c.cookie.Begin(buf[:0])
	b = c.Passes.AppendToken(b, p.appendPayload(payload[:0]))
	b = c.cookie.End(b, v.R.TLS != nil)
	b = strconv.AppendInt(append(b, "; Max-Age="...), p.until-v.Start.Unix(), 10)
	h["Set-Cookie"] = append(h["Set-Cookie"], string(b))
}

// EditResponse implements pipeline.ResponseEditor: with the origin's page, the
// visitor's pass is bound to the admission pass and the address they have now.
func (s *Stage) EditResponse(v *pipeline.Visit, _ int, h http.Header) {
	c := s.settings.Load()
	p, own, _ := c.pass(v)
	bound := p
	switch bound.bind(v); {
	case own && bound == p:
		return
	case own:
		c.setPass(v, h, p)
	}
	cookies.KeepPrivate(h, v.Start) // also when the pass is delivered with this page
}

// occupied reports whether a place that the pass was used for is still in line
// and not the visitor's own: one pass has one place at a time.
func (s *Stage) occupied(c *settings, v *pipeline.Visit, p *vipPass) bool {
	s.mu.Lock()
	place, used := s.places.get(p.ticket)
	s.mu.Unlock()
	if !used {
		place = line.Ticket{Number: p.ticket}
	}
	if c.brings(v, place.Number) {
		return false
	}
	st, err := c.Line.Look(v.R.Context(), time.Now(), place)
	return err == nil && st.Known
}

// Fronted notes that the visit, with a pass, was given a place at the front.
func (s *Stage) Fronted(v *pipeline.Visit, place line.Ticket) {
	c := s.settings.Load()
	p, own, _ := c.pass(v)
	if !own {
		p, own = s.owedTo(c, v)
	}
	if !own {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.places.put(p.ticket, place)
}

// strange takes down that a pass is used by somebody it is not bound to, or by
// several at once.
func (s *Stage) strange(c *settings, v *pipeline.Visit, p *vipPass) {
	s.shared.Add(1)
	s.mu.Lock()
	_, known := s.reported.get(p.ticket)
	s.reported.put(p.ticket, struct{}{})
	s.mu.Unlock()
	if !known {
		c.Log.Warn("a pass that was paid for is used by somebody else as well; they wait in line like everybody",
			"ticket", p.ticket, "client", v.Client.Addr, "path", v.Path.Clean)
	}
}
