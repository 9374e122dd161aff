package protect

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/andreimerlescu/concert/gate/token"
)

// Visitor is somebody who was let in.
type Visitor struct {
	Ticket uint64
	Until  time.Time // when the access ends
}

type visitorKey struct{}

// From returns who sent a request that Wrap let through; false for one that
// came while nobody is sent away.
func From(r *http.Request) (Visitor, bool) {
	v, ok := r.Context().Value(visitorKey{}).(Visitor)
	return v, ok
}

// verdict is what is to become of a request.
type verdict uint8

const (
	pass   verdict = iota // to the site
	enter                 // a token was taken: cookie, then the clean address
	wait                  // to the waiting room
	unsent                // the same, but a redirect would lose what was to be sent
	refuse                // no way in, and nowhere to send them
	broken                // it cannot be told now
)

// decision is a verdict with what it needs.
type decision struct {
	verdict verdict
	visitor Visitor
	cookie  *http.Cookie // with enter
	to      string       // with enter, wait and unsent
}

// judge decides about a request for an address, which is a path with its query.
func (g *Guard) judge(r *http.Request, method string, address *url.URL) decision {
	reading := method == http.MethodGet || method == http.MethodHead
	own, raw := ownAddress(address)
	if v, ok := g.visitor(r); ok {
		if raw != "" && reading { // back from the waiting room once more
			return decision{verdict: enter, visitor: v, to: own}
		}
		return decision{verdict: pass, visitor: v}
	}
	if raw != "" && reading {
		a, err := g.admit(r.Context(), raw)
		switch {
		case err == nil:
			return decision{verdict: enter, visitor: Visitor{a.Ticket, a.Expires}, cookie: g.session(r, a), to: own}
		case !errors.Is(err, token.ErrInvalid):
			return decision{verdict: broken}
		case !g.gating():
			return decision{verdict: refuse}
		}
	} else if a, ok := g.bearer(r); ok {
		return decision{verdict: pass, visitor: Visitor{a.Ticket, a.Expires}}
	}
	switch {
	case !g.gating():
		return decision{verdict: pass}
	case !reading:
		return decision{verdict: unsent, to: g.waitingRoom(own)}
	}
	return decision{verdict: wait, to: g.waitingRoom(own)}
}

// bearer takes an access token that a program sends with each request. Where
// tokens are taken once there is none such.
func (g *Guard) bearer(r *http.Request) (token.Access, bool) {
	scheme, raw, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if g.o.ValidateURL != "" || !strings.EqualFold(scheme, "Bearer") {
		return token.Access{}, false
	}
	a, err := g.check(r.Context(), strings.TrimSpace(raw))
	return a, err == nil
}

// waitingRoom is the room's page, with the path to come back to.
func (g *Guard) waitingRoom(own string) string {
	return strings.TrimSuffix(g.o.WaitingRoomURL, "/") + "/?" + url.Values{"room": {g.o.Room}, "return": {own}}.Encode()
}

// ownAddress is the address without its access token, as a path on this origin:
// one that begins with two slashes would name another. A parameter of the name
// that holds something else is the site's own.
func ownAddress(u *url.URL) (own, raw string) {
	var kept []string
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		name, value, _ := strings.Cut(pair, "=")
		switch {
		case name == "token" && token.LooksLikeAccess(value):
			raw = value
		case pair != "":
			kept = append(kept, pair)
		}
	}
	own = "/" + strings.TrimLeft(u.EscapedPath(), "/")
	if len(kept) > 0 {
		own += "?" + strings.Join(kept, "&")
	}
	return own, raw
}

// Wrap returns next behind the waiting room.
func (g *Guard) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d := g.judge(r, r.Method, r.URL)
		if d.verdict == pass {
			if d.visitor != (Visitor{}) {
				r = r.WithContext(context.WithValue(r.Context(), visitorKey{}, d.visitor))
			}
			next.ServeHTTP(w, r)
			return
		}
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("Referrer-Policy", "no-referrer") // the address may hold a token
		switch d.verdict {
		case enter:
			if d.cookie != nil {
				http.SetCookie(w, d.cookie)
			}
			redirect(w, d.to, http.StatusSeeOther)
		case wait:
			redirect(w, d.to, http.StatusFound)
		case broken:
			h.Set("Retry-After", "5")
			say(w, http.StatusServiceUnavailable, "One moment, please", "We cannot check your turn just now. Please reload this page in a few seconds; your place is kept.", "")
		case refuse:
			say(w, http.StatusUnauthorized, "This link is not valid any more", "It may have been used already.", "")
		default:
			say(w, http.StatusForbidden, "Nothing was sent", "This site has a waiting room, and your visit has not passed it, or has come to its end. Please open the page anew and wait for your turn.", d.to)
		}
	})
}

func redirect(w http.ResponseWriter, to string, status int) {
	w.Header().Set("Location", to)
	w.WriteHeader(status)
}

// say answers with a short page.
func say(w http.ResponseWriter, status int, title, text, link string) {
	if link != "" {
		link = fmt.Sprintf("<p><a href=\"%s\">To the waiting room</a></p>", html.EscapeString(link))
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>%[1]s</title></head><body><h1>%[1]s</h1><p>%[2]s</p>%[3]s</body></html>\n", title, text, link)
}
