package portal

import (
	"bytes"
	"crypto/hmac"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/andreimerlescu/concert/cookies"
	"github.com/andreimerlescu/concert/persist"
	"github.com/andreimerlescu/concert/portal/view"
)

// csrfHeader carries a session's token.
const csrfHeader = "X-CSRF-Token"

var errSignIn = &Problem{http.StatusUnauthorized, errors.New("sign in required")}

// admit finds out who asks, and whether they may.
func (r *request) admit(row *route) (err error) {
	if r.query, err = url.ParseQuery(r.URL.RawQuery); err != nil {
		return badRequest("the query cannot be read: %v", err)
	}
	if row.needs == nothing {
		return nil
	}
	if err := r.identify(); err != nil {
		return err
	}
	switch {
	case row.needs == nobody, r.role == noRole && !r.isAPI():
		return nil // a page shows the form to sign in, or leads to it
	case r.role == noRole:
		return errSignIn
	case row.needs == change && r.role != operatorRole:
		return problemf(http.StatusForbidden, "you are signed in as a viewer, who changes nothing: sign in with the operator's password for that")
	case row.needs == change && r.session != nil && !r.hasToken(r.Header.Get(csrfHeader)):
		return problemf(http.StatusForbidden, "the page is out of date: load it again (%s is missing or not that of the session)", csrfHeader)
	case row.needs == change:
		return r.known(row)
	}
	return nil
}

// known refuses parameters that the route does not have: a misspelt dry run must
// not become a change.
func (r *request) known(row *route) error {
	for name := range r.query {
		if !slices.ContainsFunc(row.params, func(p param) bool { return p.name == name }) {
			return badRequest("there is no parameter %s here", quoted(name))
		}
	}
	return nil
}

// identify finds the session or the admin token of a request.
func (r *request) identify() error {
	if value := r.Header.Get("Authorization"); value != "" && r.isAPI() {
		return r.identifyToken(value)
	}
	for value := range cookies.Each(r.Header, cookieName) {
		if s, ok := r.p.sessions.find(value, r.now); ok {
			r.session, r.role = &s, s.role
			return nil
		}
	}
	return nil
}

// identifyToken checks an Authorization header. Wrong ones are counted, so that
// nobody tries many.
func (r *request) identifyToken(value string) error {
	limits := tokenLimit(r.client)
	if wait := r.p.lockout.wait(limits, r.now); wait > 0 {
		r.w.Header().Set("Retry-After", strconv.FormatInt(seconds(wait), 10))
		return problemf(http.StatusTooManyRequests, "too many wrong tokens from this address: try again in %d seconds", seconds(wait))
	}
	scheme, token, _ := strings.Cut(value, " ")
	if !strings.EqualFold(scheme, "Bearer") || !r.p.token.Matches(strings.TrimSpace(token)) {
		r.p.lockout.failed(limits, r.now)
		r.w.Header().Set("WWW-Authenticate", `Bearer realm="concert portal"`)
		return errSignIn
	}
	r.role = operatorRole
	return nil
}

// hasToken reports whether a text is the session's token.
func (r *request) hasToken(text string) bool {
	return hmac.Equal([]byte(text), []byte(r.p.sessions.csrf(r.session)))
}

// seconds rounds up.
func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

// signInPage shows the form.
func (r *request) signInPage(status int, form view.SignIn) error {
	form.Name, form.Version = r.p.Concert.Config().BrandName, r.p.Version
	if r.browser().isZero() { // an attempt then counts for this browser, not for everybody at its address
		r.setCookie(browserCookie, newBrowser().cookie(r.p.browsers), browserAge)
	}
	var b bytes.Buffer
	if err := view.RenderSignIn(&b, form); err != nil {
		return err
	}
	r.html(status, b.Bytes())
	return nil
}

// browser is the identity that the request's browser brought.
func (r *request) browser() browser {
	for value := range cookies.Each(r.Header, browserCookie) {
		if b := readBrowser(r.p.browsers, value); !b.isZero() {
			return b
		}
	}
	return browser{}
}

func (r *request) setCookie(name, value string, age time.Duration) {
	http.SetCookie(r.w, &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: int(age / time.Second), HttpOnly: true,
		Secure: r.p.Concert.Config().PortalSecureCookie, SameSite: http.SameSiteStrictMode,
	})
}

// signIn takes the form. The attempt counts as failed until its password turns
// out to be right.
func signIn(r *request) error {
	if err := r.ParseForm(); err != nil {
		return badRequest("the form cannot be read: %v", err)
	}
	b := r.browser()
	limits := limitsOf(b, r.client)
	if wait := r.p.lockout.try(limits, r.now); wait > 0 {
		r.w.Header().Set("Retry-After", strconv.FormatInt(seconds(wait), 10))
		return r.signInPage(http.StatusTooManyRequests, view.SignIn{Locked: wait})
	}
	role := r.p.passwords.role(r.PostForm.Get("pass"))
	agent := cut(r.UserAgent(), maxAgent)
	if role == noRole {
		r.p.Concert.Audit(persist.By{Who: "nobody", Client: r.client.String()}, persist.Act{What: "sign-in failed", Note: agent})
		return r.signInPage(http.StatusUnauthorized, view.SignIn{Wrong: true})
	}
	r.p.lockout.succeeded(limits)
	ttl := r.p.Concert.Config().PortalSessionTTL
	s, value := r.p.sessions.begin(role, r.client, agent, ttl, r.now)
	r.session = &s
	r.p.Concert.Audit(r.by(), persist.Act{What: "sign-in", Note: agent})
	r.setCookie(cookieName, value, ttl)
	if b.isZero() {
		b = newBrowser()
	}
	if !b.known {
		b.known = true
		r.setCookie(browserCookie, b.cookie(r.p.browsers), browserAge)
	}
	return r.seeOther("/")
}

// signOut ends the session here, whatever becomes of its cookie.
func signOut(r *request) error {
	if err := r.ParseForm(); err != nil {
		return badRequest("the form cannot be read: %v", err)
	}
	if r.session == nil {
		return r.seeOther("/")
	}
	if !r.hasToken(r.PostForm.Get("csrf")) {
		return problemf(http.StatusForbidden, "the page is out of date: load it again, then sign out")
	}
	r.p.sessions.end(r.session.nonce)
	r.p.Concert.Audit(r.by(), persist.Act{What: "sign-out"})
	r.setCookie(cookieName, "", -time.Second)
	return r.seeOther("/")
}

func (r *request) seeOther(path string) error {
	r.w.Header().Set("Location", path)
	r.w.WriteHeader(http.StatusSeeOther)
	return nil
}
