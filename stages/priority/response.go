package priority

import (
	"net/http"
	"strconv"
	"time"

	"github.com/andreimerlescu/concert/cookies"
	"github.com/andreimerlescu/concert/pipeline"
)

// EditResponse implements pipeline.ResponseEditor: it takes Concert-Priority
// off the response and does as it says. Of several lines the last counts.
func (s *Stage) EditResponse(v *pipeline.Visit, status int, h http.Header) {
	lines := h[Header]
	delete(h, Header)
	if len(lines) == 0 || v.Pass.State != pipeline.PassValid || status == http.StatusSwitchingProtocols {
		return
	}
	value := lines[len(lines)-1]
	rank, ttl, ok := parseHeader(value)
	c := s.settings.Load()
	if !ok {
		s.reject(c, v, value)
		return
	}
	if rank == pipeline.Guest {
		s.clear(c, v, h)
		return
	}
	now := time.Now()
	g := grant{pass: v.Pass.ID, rank: rank, issued: now.UnixMilli(), expires: now.Add(ttl).Unix()}
	s.issue(c, &g, now)
	s.counters.grants.Add(1)
	var payload [payloadSize]byte
	var buf [256]byte
	b := c.cookie.Begin(buf[:0])
	b = c.Grants.AppendToken(b, g.appendPayload(payload[:0]))
	b = c.cookie.End(b, v.R.TLS != nil)
	b = append(b, "; Max-Age="...)
	b = strconv.AppendInt(b, int64(ttl/time.Second), 10)
	h["Set-Cookie"] = append(h["Set-Cookie"], string(b))
	cookies.KeepPrivate(h, now)
}

// issue notes a grant as its pass's newest.
func (s *Stage) issue(c *settings, g *grant, now time.Time) {
	if m, worth := s.newest.issue(g, now.Unix()); worth {
		c.Changed(m)
	}
}

// clear makes the visitor a guest: the cookie goes, and grants issued before
// count for nothing. A pass that never had one is not remembered, so that an
// application which says guest to everybody does not fill the table.
func (s *Stage) clear(c *settings, v *pipeline.Visit, h http.Header) {
	now := time.Now()
	g := grant{pass: v.Pass.ID, issued: now.UnixMilli(), expires: now.Add(MaxTTL).Unix()}
	if _, brought := s.granted(c, v); brought || s.newest.knows(g.pass) {
		s.issue(c, &g, now)
	}
	s.counters.cleared.Add(1)
	h["Set-Cookie"] = append(h["Set-Cookie"], c.cookie.Clear(v.R.TLS != nil))
	cookies.KeepPrivate(h, now)
}

func (s *Stage) reject(c *settings, v *pipeline.Visit, value string) {
	s.counters.rejected.Add(1)
	if text, first := s.odd.first(value); first {
		c.Log.Warn("Concert-Priority ignored: want one of guest, member, prospect, customer, subscriber, checkout and staff, and a ttl in seconds or as in 1h30m",
			"value", text, "path", v.Path.Clean)
	}
}
