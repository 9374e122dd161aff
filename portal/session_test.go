package portal

import (
	"encoding/base64"
	"net/http"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestCookieIsOfTheDocumentedForm(t *testing.T) {
	r := newRig(t)
	s := r.signIn(operatorPass)
	raw, err := base64.RawURLEncoding.DecodeString(s.cookie.Value)
	if err != nil || len(raw) != 40 || len(s.cookie.Value) != 54 || len(s.csrf) != 32 {
		t.Errorf("cookie %q, token %q", s.cookie.Value, s.csrf)
	}
	c := s.cookie
	if c.Path != "/" || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.MaxAge != 8*60*60 || c.Secure || c.Domain != "" {
		t.Errorf("cookie %+v", c)
	}
	r.program.cfg.PortalSecureCookie = true
	if s := r.signIn(operatorPass); !s.cookie.Secure || !s.browser.Secure {
		t.Error("cookies are not Secure")
	}
}

// TestTamperedCookies: no cookie but the one that was given out is a session.
func TestTamperedCookies(t *testing.T) {
	r := newRig(t)
	s, viewer := r.signIn(operatorPass), r.signIn(viewerPass)
	s.want(200, "GET", "/api/sessions", "")
	raw, _ := base64.RawURLEncoding.DecodeString(s.cookie.Value)
	for i := range raw {
		bad := slices.Clone(raw)
		bad[i] ^= 1
		if _, ok := r.sessions.find(base64.RawURLEncoding.EncodeToString(bad), time.Now()); ok {
			t.Errorf("byte %d can be changed", i)
		}
	}
	mine, _ := base64.RawURLEncoding.DecodeString(viewer.cookie.Value)
	mixed := slices.Concat(raw[:24], mine[24:])
	for _, value := range []string{"", "x", s.cookie.Value + "A", s.cookie.Value[:53], base64.RawURLEncoding.EncodeToString(mixed)} {
		if _, ok := r.sessions.find(value, time.Now()); ok {
			t.Errorf("%q is a session", value)
		}
	}
	if w := s.do("GET", "/api/sessions", ""); w.Code != 401 || w.Body.String() != `{"error":"sign in required"}`+"\n" {
		t.Errorf("without a session: %d %s", w.Code, w.Body)
	}
}

func TestSignOutEndsTheSessionHere(t *testing.T) {
	r := newRig(t)
	s, copied := r.signIn(operatorPass), r.signIn(operatorPass)
	for _, body := range []string{"csrf=" + copied.csrf, "csrf=", "x=y"} {
		if w := s.do("POST", "/logout", body, withCookie(s.cookie)); w.Code != 403 {
			t.Errorf("sign-out with %s: %d", body, w.Code)
		}
	}
	s.want(200, "GET", "/api/sessions", "")
	w := s.do("POST", "/logout", "csrf="+s.csrf, withCookie(s.cookie))
	if w.Code != 303 || w.Header().Get("Location") != "/" || len(w.Result().Cookies()) != 1 || w.Result().Cookies()[0].MaxAge >= 0 {
		t.Errorf("sign-out: %d %v", w.Code, w.Header())
	}
	s.want(401, "GET", "/api/sessions", "") // whoever copied the cookie is out as well
	copied.want(200, "GET", "/api/sessions", "")
	if w := s.do("POST", "/logout", "csrf="+s.csrf, withCookie(s.cookie)); w.Code != 303 {
		t.Errorf("sign-out again: %d", w.Code)
	}
	if got := r.whats(); got != "sign-in sign-out" {
		t.Errorf("audit %q", got)
	}
}

func TestSessionsAreListedAndRevoked(t *testing.T) {
	r := newRig(t)
	s, other := r.signIn(operatorPass), r.signIn(viewerPass, header("User-Agent", "other"))
	found, _ := r.sessions.find(other.cookie.Value, time.Now())
	s.want(200, "GET", "/api/sessions", "", `"role":"viewer"`, `"user_agent":"other"`, `"current":true`, found.id())
	s.want(400, "DELETE", "/api/sessions", "")
	s.want(404, "DELETE", "/api/sessions?id=0011223344556677", "")
	other.want(403, "DELETE", "/api/sessions?id="+found.id(), "", "viewer")
	s.want(200, "DELETE", "/api/sessions?id="+found.id(), "", found.id())
	other.want(401, "GET", "/api/sessions", "")
	if got := r.whats(); got != "sign-in revoke" {
		t.Errorf("audit %q", got)
	}
}

func TestSessionsEndByThemselves(t *testing.T) { synctest.Test(t, sessionsEnd) }

func sessionsEnd(t *testing.T) {
	r := newRig(t)
	r.program.cfg.PortalSessionTTL = time.Hour
	s := r.signIn(operatorPass)
	time.Sleep(time.Hour - time.Second)
	s.want(200, "GET", "/api/sessions", "") // which prolongs nothing
	time.Sleep(time.Second)
	s.want(401, "GET", "/api/sessions", "")
	if n := len(r.sessions.list(time.Now())); n != 0 {
		t.Errorf("%d sessions are listed", n)
	}
}

// TestSessionsOutliveTheProcess, and a sign-out does; another password ends all.
func TestSessionsOutliveTheProcess(t *testing.T) {
	dir := t.TempDir()
	r := newRigIn(t, dir)
	stay, leave, viewer := r.signIn(operatorPass), r.signIn(operatorPass), r.signIn(viewerPass)
	leave.do("POST", "/logout", "csrf="+leave.csrf, withCookie(leave.cookie))
	now := time.Now()
	restarted := newSessions(operatorPass, viewerPass, r.dir, r.Log, now)
	for value, want := range map[string]bool{stay.cookie.Value: true, viewer.cookie.Value: true, leave.cookie.Value: false} {
		if _, ok := restarted.find(value, now); ok != want {
			t.Errorf("after a restart, signed in: %v, want %v", ok, want)
		}
	}
	if _, ok := newSessions("another-password-1", viewerPass, r.dir, r.Log, now).find(stay.cookie.Value, now); ok {
		t.Error("a session outlives its password")
	}
	if _, ok := newSessions(operatorPass, "", r.dir, r.Log, now).find(viewer.cookie.Value, now); ok {
		t.Error("a viewer outlives the viewers")
	}
	if _, ok := newSessions(viewerPass, operatorPass, r.dir, r.Log, now).find(viewer.cookie.Value, now); ok {
		t.Error("a viewer became an operator")
	}
}

func TestSessionsAreBounded(t *testing.T) {
	r := newRig(t)
	first := r.signIn(operatorPass)
	now := time.Now()
	for i := range maxSessions {
		r.sessions.begin(viewerRole, netip.MustParseAddr(operatorAddr), "", time.Hour, now.Add(time.Duration(i+1)))
	}
	if n := len(r.sessions.list(now)); n != maxSessions {
		t.Errorf("%d sessions, want %d", n, maxSessions)
	}
	first.want(401, "GET", "/api/sessions", "") // the one seen longest ago made room
}
