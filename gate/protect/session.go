package protect

import (
	"encoding/binary"
	"net/http"
	"time"

	"github.com/andreimerlescu/concert/gate/token"
	"github.com/andreimerlescu/concert/signed"
)

// session is the cookie of an admitted visitor.
func (g *Guard) session(r *http.Request, a token.Access) *http.Cookie {
	payload := binary.BigEndian.AppendUint64(nil, uint64(a.Expires.Unix()))
	payload = binary.BigEndian.AppendUint64(payload, a.Ticket)
	return &http.Cookie{
		Name: g.o.Cookie, Value: string(g.sessions.AppendToken(nil, payload)),
		Path: "/", Expires: a.Expires, HttpOnly: true, SameSite: http.SameSiteLaxMode,
		Secure: g.o.SecureCookie || r.TLS != nil,
	}
}

// visitor returns who has a session.
func (g *Guard) visitor(r *http.Request) (Visitor, bool) {
	for _, c := range r.CookiesNamed(g.o.Cookie) {
		payload, verdict := g.sessions.Open(nil, c.Value)
		if verdict != signed.Valid || len(payload) != 16 {
			continue
		}
		until := time.Unix(int64(binary.BigEndian.Uint64(payload)), 0)
		if until.After(g.o.Now()) {
			return Visitor{Ticket: binary.BigEndian.Uint64(payload[8:]), Until: until}, true
		}
	}
	return Visitor{}, false
}
