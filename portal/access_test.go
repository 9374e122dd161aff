package portal

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/config"
)

func TestWhoMayCome(t *testing.T) {
	r := newRig(t)
	for _, target := range []string{"/", "/api/overview", "/assets/css/portal.css", "/nothing"} {
		w := r.do("GET", target, "", from("127.0.0.2"))
		plain := *w
		if w.Code != 403 || w.Body.Len() != 0 {
			t.Errorf("%s from a stranger: %d %s", target, w.Code, w.Body)
		}
		w = r.do("GET", target, "", from("127.0.0.2"), header("X-Forwarded-For", "127.0.0.1"), header("X-Real-Ip", "127.0.0.1"),
			header("Forwarded", "for=127.0.0.1"), bearer(adminToken))
		if w.Code != plain.Code || w.Body.Len() != 0 {
			t.Errorf("%s with spoofed headers: %d %s", target, w.Code, w.Body)
		}
	}
	for addr, want := range map[string]int{"127.0.0.1": 200, "::1": 200, "::ffff:127.0.0.1": 200, "::2": 403, "10.0.0.1": 403} {
		if w := r.do("GET", "/", "", from(addr)); w.Code != want {
			t.Errorf("from %s: %d, want %d", addr, w.Code, want)
		}
	}
}

// TestNamesOfOthers: a page of another site that has its name point here is
// refused, whatever it asks for.
func TestNamesOfOthers(t *testing.T) {
	r := newRig(t)
	r.program.cfg.PortalHosts = []string{"desk.example"}
	r.Listen = "ops.internal:8081"
	for name, want := range map[string]int{
		"127.0.0.1": 200, "127.0.0.1:8081": 200, "localhost:1": 200, "LOCALHOST": 200, "a.localhost": 200, "[::1]:8081": 200, "192.0.2.1": 200,
		"desk.example": 200, "Desk.Example.:443": 200, "ops.internal": 200,
		"evil.example": 421, "evil.example:8081": 421, "127.0.0.1.evil.example": 421, "localhost.evil.example": 421, "": 421,
		"desk.example.evil.example": 421, "notlocalhost": 421,
	} {
		if w := r.do("GET", "/", "", host(name)); w.Code != want {
			t.Errorf("Host %q: %d, want %d", name, w.Code, want)
		}
	}
	if w := r.do("GET", "/api/overview", "", host("evil.example"), bearer(adminToken)); w.Code != 421 || !strings.Contains(w.Body.String(), "-portal-hosts") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestHeadersOfEveryAnswer(t *testing.T) {
	r := newRig(t)
	s := r.signIn(operatorPass)
	for _, w := range []interface {
		Header() http.Header
	}{r.do("GET", "/", ""), r.do("GET", "/", "", from("10.0.0.1")), r.do("GET", "/", "", host("evil")), r.do("GET", "/nothing", ""),
		s.call("GET", "/queue", ""), s.call("GET", "/api/overview", ""), r.do("POST", "/login", "pass=x"), r.do("GET", "/assets/css/portal.css", ""), s.call("GET", "/api/openapi.json", "")} {
		h := w.Header()
		csp := h.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'self'", "img-src 'self' data:", "frame-ancestors 'none'", "form-action 'self'", "base-uri 'none'"} {
			if !strings.Contains(csp, part) {
				t.Errorf("policy %q lacks %q", csp, part)
			}
		}
		if strings.Contains(csp, "unsafe") || h.Get("X-Frame-Options") != "DENY" || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("headers %v", h)
		}
		if cache := h.Get("Cache-Control"); cache != "no-store" && (cache != "private, max-age=300" || !strings.HasPrefix(h.Get("Content-Type"), "text/css")) {
			t.Errorf("Cache-Control %q of %s", cache, h.Get("Content-Type"))
		}
	}
}

func TestAssets(t *testing.T) {
	r := newRig(t)
	for target, want := range map[string]int{
		"/assets/css/portal.css": 200, "/assets/": 404, "/assets/css": 404, "/assets/css/": 404, "/assets/css/x.css": 404,
		"/assets/../templates/queue.html": 404, "/assets/templates/queue.html": 404, "/assets/css/../../templates/queue.html": 404,
		"/assets/%2e%2e/templates/queue.html": 404, "/assets/css/%2e%2e/%2e%2e/render.go": 404,
	} {
		if w := r.do("GET", target, ""); w.Code != want {
			t.Errorf("%s: %d, want %d", target, w.Code, want)
		}
	}
}

// TestCrossSite: what another site has a browser send changes nothing, with the
// session or with the form.
func TestCrossSite(t *testing.T) {
	r := newRig(t)
	s := r.signIn(operatorPass)
	id := r.queueUp("192.0.2.1")[0]
	const target, own = "/api/queue/promote", "http://127.0.0.1:8081"
	body := `{"id":"` + id + `"}`
	for name, o := range map[string][]option{
		"site":        {header("Sec-Fetch-Site", "cross-site")},
		"neighbour":   {header("Sec-Fetch-Site", "same-site")},
		"origin":      {header("Origin", "https://evil.example")},
		"null origin": {header("Origin", "null")},
		"other port":  {header("Origin", "http://127.0.0.1:8080")},
		"no token":    {header(csrfHeader, "")},
		"old token":   {header(csrfHeader, strings.Repeat("0", 32)), header("Origin", own)},
	} {
		if w := s.call("POST", target, body, o...); w.Code != 403 {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	if w := r.do("POST", "/login", "pass="+operatorPass, header("Sec-Fetch-Site", "cross-site")); w.Code != 403 || len(w.Result().Cookies()) != 0 {
		t.Errorf("sign-in by another site: %d", w.Code)
	}
	if got := r.whats(); got != "sign-in" {
		t.Errorf("acts %q", got)
	}
	if w := s.call("POST", target, body, header("Sec-Fetch-Site", "same-origin"), header("Origin", own)); w.Code != 200 {
		t.Errorf("the page itself: %d %s", w.Code, w.Body)
	}
	if w := r.do("POST", target, body, bearer(adminToken)); w.Code != 200 {
		t.Errorf("a program, without a token of a session: %d %s", w.Code, w.Body)
	}
}

// TestViewersChangeNothing goes through every route of the table.
func TestViewersChangeNothing(t *testing.T) {
	r := newRig(t)
	s := r.signIn(viewerPass)
	changing := 0
	for _, row := range routes() {
		target := strings.Replace(row.path, "{path}", "css/portal.css", 1)
		if row.needs == change {
			changing++
			s.want(403, row.method, target, "{}", "viewer")
			if row.method == http.MethodGet {
				t.Errorf("%s changes something", row.path)
			}
		} else if row.method == http.MethodGet && row.needs == look {
			if w := s.call("GET", target, ""); w.Code == 403 || w.Code == 401 {
				t.Errorf("%s: %d, want it shown", target, w.Code)
			}
			if w := r.do("GET", target, ""); row.path != "/" && w.Code != 401 && w.Code != 303 {
				t.Errorf("%s without a session: %d", target, w.Code)
			}
		} else if row.method != http.MethodGet && row.path != "/login" && row.path != "/logout" {
			t.Errorf("%s %s is open to viewers", row.method, row.path)
		}
	}
	if changing < 10 || r.whats() != "sign-in" {
		t.Errorf("%d routes change something; acts %q", changing, r.whats())
	}
	if !strings.Contains(s.want(200, "GET", "/queue", ""), "viewer") {
		t.Error("the page does not say why nothing can be changed")
	}
}

func TestPagesLeadToTheForm(t *testing.T) {
	r := newRig(t)
	for _, target := range []string{"/queue", "/settings?next=//evil.example", "/access"} {
		if w := r.do("GET", target, ""); w.Code != 303 || w.Header().Get("Location") != "/" {
			t.Errorf("%s: %d to %q", target, w.Code, w.Header().Get("Location"))
		}
	}
	for _, query := range []string{"?next=//evil.example", `?next=/\evil.example`, "?return=https:evil.example"} {
		if w := r.do("POST", "/login"+query, "pass="+operatorPass+"&next=//evil.example"); w.Code != 303 || w.Header().Get("Location") != "/" {
			t.Errorf("sign-in with %s leads to %q", query, w.Header().Get("Location"))
		}
	}
	if w := r.do("GET", "/", "", withCookie(http.Cookie{Name: cookieName, Value: "over"})); w.Code != 200 || !strings.Contains(w.Body.String(), `name="pass"`) {
		t.Errorf("a session that ended: %d", w.Code)
	}
	if w := r.do("POST", "/login", "pass=wrong"); w.Code != 401 || !strings.Contains(w.Body.String(), `name="pass"`) {
		t.Errorf("a wrong password: %d", w.Code)
	}
}

func TestUnknownPathsAndMethods(t *testing.T) {
	r := newRig(t)
	s := r.signIn(operatorPass)
	for _, target := range []string{"/nothing", "/api/nothing", "/Queue", "/queue/", "//", "/api"} {
		if w := s.call("GET", target, ""); w.Code != 404 || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
			t.Errorf("%s: %d", target, w.Code)
		}
	}
	for target, allow := range map[string]string{"/api/bans": "DELETE, GET, POST", "/login": "POST", "/queue": "GET", "/api/overview": "GET"} {
		if w := s.call("PATCH", target, "{}"); w.Code != 405 || w.Header().Get("Allow") != allow {
			t.Errorf("PATCH %s: %d, Allow %q", target, w.Code, w.Header().Get("Allow"))
		}
	}
	if w := s.call("HEAD", "/api/overview", ""); w.Code != 200 || w.Body.Len() != 0 {
		t.Errorf("HEAD: %d %s", w.Code, w.Body)
	}
	s.want(400, "GET", "/api/overview?%zz", "")
	s.want(400, "DELETE", "/api/settings?key=cap&dry_run=1", "", "there is no parameter")
	s.want(413, "POST", "/api/settings", `{"html":"`+strings.Repeat("x", maxBody)+`"}`)
}

// TestLeavingSendsOn: while another process takes over, requests go there.
func TestLeavingSendsOn(t *testing.T) {
	r := newRig(t)
	s := r.signIn(operatorPass)
	r.program.leaving = true
	if w := s.call("POST", "/api/cap?dry-run=1", `{"cap":3}`); w.Code != 307 || w.Header().Get("Location") != "/api/cap?dry-run=1" || w.Header().Get("Connection") != "close" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	if len(r.program.edits) != 0 {
		t.Error("the leaving process changed something")
	}
	if w := r.do("GET", "//evil.example/x", ""); w.Code == 307 {
		t.Error("sent to another site")
	}
}

func TestOperatorsCannotShutThemselvesOut(t *testing.T) {
	r := newRig(t)
	s := r.signIn(operatorPass)
	s.want(400, "POST", "/api/settings", `{"portal_allow":"10.0.0.0/8"}`, "shut out your own address, 127.0.0.1")
	s.want(200, "POST", "/api/settings", `{"portal_allow":"127.0.0.0/8"}`)
	r.program.cfg.PortalHosts = []string{"desk.example"}
	c := config.Config{PortalAllow: trust(t, "127.0.0.1")}
	q := &request{p: r.Portal, client: peerOf(&http.Request{RemoteAddr: "127.0.0.1:1"}), Request: &http.Request{Host: "desk.example"}}
	if err := q.guard(&c); err == nil || !strings.Contains(err.Error(), "portal_hosts") {
		t.Errorf("the name in use can be taken out: %v", err)
	}
}

func TestServerHasTimeLimits(t *testing.T) {
	s := newRig(t).Server()
	if s.ReadHeaderTimeout != 10*time.Second || s.ReadTimeout != 30*time.Second || s.WriteTimeout != 30*time.Second || s.IdleTimeout != 2*time.Minute || s.MaxHeaderBytes > 64<<10 {
		t.Errorf("limits %v %v %v %v, %d bytes", s.ReadHeaderTimeout, s.ReadTimeout, s.WriteTimeout, s.IdleTimeout, s.MaxHeaderBytes)
	}
}

// TestFieldsSayWhyTheyAreLocked, and only those are.
func TestFieldsSayWhyTheyAreLocked(t *testing.T) {
	r := newRig(t)
	q := &request{p: r.Portal, Request: &http.Request{}}
	page, err := settingsPage(q)
	if err != nil {
		t.Fatal(err)
	}
	fields := 0
	for _, g := range page.Groups {
		for _, f := range g.Fields {
			fields++
			if locked := f.Secret || !f.Live || f.Key == "html"; locked != (f.Locked != "") {
				t.Errorf("%s: locked %q", f.Key, f.Locked)
			}
		}
	}
	if fields != len(config.Settings()) {
		t.Errorf("%d of %d settings", fields, len(config.Settings()))
	}
	r.program.cfg.PagesDir = "/srv/pages"
	if page, _ = settingsPage(q); strings.Contains(fmt.Sprint(page), "-pages-dir to choose") {
		t.Error("html is locked though there is a directory")
	}
}

func TestPanicsAreTold(t *testing.T) {
	r := newRig(t)
	var log bytes.Buffer
	r.Log = slog.New(slog.NewTextHandler(&log, nil))
	r.routes["/broken"] = map[string]*route{"GET": {page: func(*request) error { panic("oh no") }}}
	func() {
		defer func() {
			if got := recover(); got != http.ErrAbortHandler {
				t.Errorf("recovered %v", got)
			}
		}()
		r.do("GET", "/broken", "")
	}()
	if !strings.Contains(log.String(), "BUG: the portal panicked") || !strings.Contains(log.String(), "oh no") {
		t.Errorf("the log says %s", log.String())
	}
}
