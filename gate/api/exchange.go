package api

import (
	"net/http"
	"time"

	"github.com/andreimerlescu/concert/gate/token"
	"github.com/andreimerlescu/concert/stages/operations"
)

func (p *Public) exchange(w http.ResponseWriter, r *http.Request) error {
	if !p.limited(w, r, p.requests) {
		return nil
	}
	var body struct {
		Return string `json:"return"`
	}
	if err := readJSON(r, &body, false); err != nil {
		return err
	}
	now := p.Now()
	room, t, err := p.bearer(r, now)
	if err != nil {
		return err
	}
	g, err := p.Store.Exchange(r.Context(), now, room, t)
	if err != nil {
		return err
	}
	raw, err := p.Ring.Access(g, now)
	if err != nil {
		return err
	}
	target, err := g.Room.Target()
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, struct {
		AccessToken string `json:"access_token"`
		TokenType   string `json:"token_type"`
		ExpiresIn   int    `json:"expires_in"`
		Audience    string `json:"audience"`
		RedirectURL string `json:"redirect_url,omitempty"`
	}{raw, "Bearer", max(0, seconds(g.Until.Sub(now))), g.Room.Audience, returnURL(target, body.Return, raw)})
	return nil
}

// validate checks an access token for a site that does not do so itself, or
// wants to take it only once.
func (p *Public) validate(w http.ResponseWriter, r *http.Request) error {
	if !p.limited(w, r, p.requests) {
		return nil
	}
	var body struct {
		Token    string `json:"token"`
		Audience string `json:"audience"` // empty: whatever the room's is
		OneTime  bool   `json:"one_time"`
	}
	if err := readJSON(r, &body, false); err != nil {
		return err
	}
	if raw, sent := operations.Bearer(r.Header); sent && body.Token == "" {
		body.Token = raw
	}
	now := p.Now()
	a, err := p.check(r, body.Token, body.Audience, now)
	if err == nil && body.OneTime {
		var fresh bool
		if fresh, err = p.Store.Spend(r.Context(), now, a.ID, a.Expires.Add(2*token.Leeway)); err == nil && !fresh {
			err = &fault{status: http.StatusUnauthorized, code: "token_used", text: "the token was used before"}
		}
	}
	if err != nil {
		f := faultOf(err, p.Log)
		writeJSON(w, f.status, map[string]any{"valid": false, "error": f.text, "code": f.code})
		return nil
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"valid": true, "room": a.Room, "ticket": a.Ticket, "audience": a.Audience, "jti": a.ID,
		"issued_at": a.Issued.UTC(), "expires_at": a.Expires.UTC(),
	})
	return nil
}

// check verifies an access token of a room that there still is.
func (p *Public) check(r *http.Request, raw, audience string, now time.Time) (token.Access, error) {
	a, err := p.Ring.ParseAccess(raw, now)
	if err != nil {
		return a, err
	}
	room, err := p.Store.Room(r.Context(), now, a.Room)
	if err != nil {
		return a, err
	}
	if a.Audience != room.Audience || audience != "" && a.Audience != audience {
		return a, token.ErrInvalid
	}
	return a, nil
}

func (p *Public) keys(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Cache-Control", "public, max-age=300")
	w.Header().Set("Access-Control-Allow-Origin", "*") // there is nothing secret in it
	writeJSON(w, http.StatusOK, p.Ring.Keys(p.Now()))
	return nil
}
