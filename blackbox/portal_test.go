package blackbox

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/internal/rawtest"
)

// TestPortalActsOnTheLine: what an operator does is what visitors meet.
func TestPortalActsOnTheLine(t *testing.T) {
	t.Parallel()
	o, dir := newOrigin(t), dataDir(t)
	p, portal := startPortal(t, dir, o.Addr(), "-cap", "1", quick, "-rate", "0.5")
	d := signIn(t, p, portal, operatorPass)
	o.fill(t, p, 1)
	all := crowd(t, p, 4)
	ids := d.occupants()
	if len(ids) != 4 {
		t.Fatalf("%d in line", len(ids))
	}

	d.want(200, "POST", "/api/queue/promote", `{"id":"`+ids[3]+`"}`, `"position":1`)
	if got := all[3].page("/").position(t); got != 1 {
		t.Errorf("the visitor who was moved up has place %d", got)
	}
	d.want(200, "POST", "/api/queue/kick", `{"id":"`+ids[0]+`"}`, `"banned":false`)
	if a := all[0].do("GET", "/queue/status", "", ""); a.status != 200 || a.body != `{"ready":true}` {
		t.Errorf("the poll of a removed visitor: %d %s", a.status, a.body)
	}
	if a := all[0].page("/"); a.status != 403 || !strings.Contains(a.body, "taken out of the line") {
		t.Errorf("the page of a removed visitor: %d %s", a.status, a.body)
	}
	if got := all[0].page("/").position(t); got != 4 { // the ticket is gone: a newcomer
		t.Errorf("who was removed comes back to place %d, want the end", got)
	}

	d.want(200, "POST", "/api/room", `{"room":"paused"}`, `"to":"paused"`)
	o.letGo()
	rawtest.Until(t, "the slot is free", func() bool { return stats(t, p).Occupancy == 0 })
	if s := stats(t, p); s.QueueDepth != 4 {
		t.Errorf("%d wait while admissions are paused", s.QueueDepth)
	}
	d.want(200, "GET", "/api/queue/find?q="+ids[1], "", "Admissions are paused")
	d.want(200, "POST", "/api/room", `{"room":"open"}`)
	if a := all[3].comeIn("/"); !a.isOrigin() {
		t.Errorf("after the pause, the first in line: %d", a.status)
	}
	ref := regexp.MustCompile(`ref=([\w-]+)`).FindStringSubmatch(all[1].page("/").body)
	if ref != nil {
		d.want(200, "GET", "/api/queue/find?q="+ref[1], "", ids[1])
	}
	trail := read(t, dir, "audit.jsonl")
	for _, what := range []string{"sign-in", "promote", "remove", "room"} {
		if !strings.Contains(trail, `"what":"`+what+`"`) {
			t.Errorf("the trail lacks %s:\n%s", what, trail)
		}
	}
	if !strings.Contains(trail, `"who":"operator `) || !strings.Contains(trail, `"client":"127.0.0.1"`) {
		t.Errorf("the trail does not say who:\n%s", trail)
	}
}

// TestPortalBans: a ban from the portal is in force at once, on disk, and taken
// back by undo.
func TestPortalBans(t *testing.T) {
	t.Parallel()
	o, dir := newOrigin(t), dataDir(t)
	p, portal := startPortal(t, dir, o.Addr(), "-cap", "1", quick, "-abuse-allow", "203.0.113.64/28")
	d := signIn(t, p, portal, operatorPass)
	o.fill(t, p, 1)
	waits := newVisitor(t, p).at("203.0.113.9")
	waits.page("/")
	d.want(200, "GET", "/api/bans/preview?client=203.0.113.0/24", "", `"waiting":1`, `"exempt_within":["203.0.113.64/28"]`)
	made := d.want(200, "POST", "/api/bans", `{"client":"203.0.113.0/24","duration":"1h","note":"noisy"}`, `"dropped":1`)
	blocked := func(address string) bool {
		return strings.Contains(string(get(t, p, address, "/").Body), "temporarily blocked")
	}
	if !blocked("203.0.113.9") || blocked("203.0.113.65") {
		t.Error("the range is not banned as ordered")
	}
	if !strings.Contains(savedBans(t, dir), "203.0.113.0/24") {
		t.Error("the ban is not on disk")
	}
	var undo struct{ Undo string }
	if err := json.Unmarshal([]byte(made), &undo); err != nil {
		t.Fatal(err)
	}
	d.want(200, "POST", "/api/undo", `{"undo":"`+undo.Undo+`"}`, `"banned":false`)
	if blocked("203.0.113.9") {
		t.Error("banned after the undo")
	}
	waits.page("/")
	var f struct{ Found []struct{ ID string } }
	if err := json.Unmarshal([]byte(d.want(200, "GET", "/api/queue/find?q=203.0.113.9", "")), &f); err != nil || len(f.Found) == 0 {
		t.Fatal(f, err)
	}
	d.want(200, "POST", "/api/queue/kick", `{"id":"`+f.Found[0].ID+`","ban":true,"permanent":true}`, `"ban_seconds":0`)
	if a := waits.page("/"); a.status != 403 || !strings.Contains(a.body, "You are blocked") { // a ban takes precedence
		t.Errorf("who was removed and banned: %d %s", a.status, a.body)
	}
}

// TestPortalSettings: dry run, change, undo and reset, as visitors meet them.
func TestPortalSettings(t *testing.T) {
	t.Parallel()
	o, dir := newOrigin(t), dataDir(t)
	pages := t.TempDir()
	write(t, pages, "soon.html", "<!doctype html><p>soon: {{.Position}}")
	write(t, pages, "secret.env", "CONCERT_ADMIN_TOKEN=x")
	p, portal := startPortal(t, dir, o.Addr(), "-cap", "1", quick, "-pages-dir", pages)
	d := signIn(t, p, portal, operatorPass)
	o.fill(t, p, 1)
	d.want(200, "POST", "/api/settings?dry-run=1", `{"cap":5,"html":"soon.html"}`, `"dry_run":true`, `"key":"cap","from":"1","to":"5"`)
	if stats(t, p).Cap != 1 || read(t, dir, "settings.json") != "" {
		t.Error("a dry run changed something")
	}
	d.want(200, "POST", "/api/settings", `{"html":"soon.html","retry_after":"9"}`, `"settings":[`)
	if a := newVisitor(t, p).page("/"); !strings.Contains(a.body, "soon: 1") {
		t.Errorf("the page that was chosen is not shown: %s", a.body)
	}
	for _, path := range []string{"secret.env", "../secret.html", "/etc/passwd", "/proc/self/environ", "/proc/self/environ.html"} {
		d.want(400, "POST", "/api/settings", `{"html":"`+path+`"}`, `"key":"html"`)
	}
	d.want(400, "POST", "/api/settings", `{"cap":0,"reaper":"1s"}`, `"key":"cap"`, `"key":"reaper"`)
	d.want(400, "POST", "/api/settings", `{"portal_listen":":1"}`, "restart")
	d.want(400, "POST", "/api/settings", `{"portal_allow":"10.0.0.0/8"}`, "shut out")
	d.want(200, "DELETE", "/api/settings?key=html&key=retry_after", "")
	d.want(409, "POST", "/api/settings/undo?of=2001-02-03T04:05:06Z", "", "somebody has changed settings since")
	d.want(200, "POST", "/api/settings/undo", "", `"to":"9"`)
	if value, source := setting(t, p, "retry_after"); value != "9" || source != "file" {
		t.Errorf("after the undo: %s from %s", value, source)
	}
	d.want(200, "GET", "/api/settings/history", "", `"what":"undo"`, `"key":"retry_after"`)
	d.want(200, "POST", "/api/cap", `{"cap":3}`, `"to":"3"`)
	if stats(t, p).Cap != 3 {
		t.Error("the cap is not in force")
	}
}

// TestPortalSessionsSurviveARestart, and so does the end of one.
func TestPortalSessionsSurviveARestart(t *testing.T) {
	t.Parallel()
	o, dir := newOrigin(t), dataDir(t)
	p, portal := startPortal(t, dir, o.Addr())
	stays, leaves := signIn(t, p, portal, operatorPass), signIn(t, p, portal, viewerPass)
	if a := leaves.do("POST", "/logout", "text/html", "csrf="+leaves.csrf); a.status != 303 {
		t.Fatalf("sign-out: %d", a.status)
	}
	copied := signIn(t, p, portal, operatorPass)
	kept := copied.client.Jar
	base, _ := url.Parse(portal)
	cookies := kept.Cookies(base)
	copied.do("POST", "/logout", "text/html", "csrf="+copied.csrf)
	kept.SetCookies(base, cookies) // somebody has a copy
	copied.want(401, "GET", "/api/overview", "", "sign in required")
	p.Kill()
	_, portal = startPortal(t, dir, o.Addr())
	stays.base, copied.base = portal, portal
	again, _ := url.Parse(portal)
	copied.client.Jar.SetCookies(again, cookies)
	stays.want(200, "GET", "/api/sessions", "", `"current":true`)
	copied.want(401, "GET", "/api/overview", "")
	if strings.Contains(read(t, dir, "sessions.json"), operatorPass) {
		t.Error("the file holds the password")
	}
}

// TestPortalCookiesStayHere: browsers send cookies to every port of a host.
func TestPortalCookiesStayHere(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	p, portal := startPortal(t, "", o.Addr())
	d := signIn(t, p, portal, operatorPass)
	d.base = p.URL
	if a := d.page("/"); !a.isOrigin() {
		t.Fatal(a.status)
	}
	all := o.Requests()
	if cookie := strings.Join(all[len(all)-1].Values("Cookie"), "; "); strings.Contains(cookie, "concert_portal") {
		t.Errorf("the origin gets %q", cookie)
	}
	for _, path := range []string{"/api/overview", "/login", "/queue"} {
		if a := d.page(path); !a.isOrigin() {
			t.Errorf("%s of the site: %d", path, a.status)
		}
	}
}

// TestPortalIsOffByItself: without a password nothing listens.
func TestPortalIsOffByItself(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	p := start(t, o.Addr(), "-portal-listen", "127.0.0.1:0")
	if strings.Contains(p.Stderr(), "operator portal") {
		t.Errorf("a portal without a password:\n%s", p.Stderr())
	}
	status, _, stderr := exit(t, []string{"CONCERT_PORTAL_PASS=0123456789abcde"}, "-listen", "127.0.0.1:0", "-data-dir", "")
	if status != 2 || !strings.Contains(stderr, `CONCERT_PORTAL_PASS "(hidden)": want at least 16 characters`) {
		t.Errorf("status %d: %s", status, stderr)
	}
}

// TestPortalShowsMarkupAsText: a banned client sends markup wherever it can, and
// an operator reads every table.
func TestPortalShowsMarkupAsText(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	p, portal := startPortal(t, "", o.Addr(), "-cap", "1", quick, "-ban-paths", "/.env")
	d := signIn(t, p, portal, operatorPass)
	o.fill(t, p, 1)
	const address = "203.0.113.9"
	mark := []string{"User-Agent: <script>alert(1)</script>", `Referer: "><img src=x onerror=alert(2)>`, "Accept: text/html"}
	get(t, p, address, `/"><img/src=x/onerror=alert(1)>`, mark...) // waits in line
	inLine := d.want(200, "GET", "/api/frag/queue", "") + d.page("/queue").body
	get(t, p, address, "/.env", mark...)
	get(t, p, address, `/"><img/src=x/onerror=alert(1)>`, mark...)
	raw(t, p, trusted, `GET"onx='x /q HTTP/1.1`, "Host: site.test", asClient(address), mark[0])
	d.want(200, "POST", "/api/bans", `{"client":"203.0.113.77","duration":"1h","note":"<img src=x onerror=alert(3)>"}`)
	all := inLine
	for _, path := range []string{
		"/visitors", "/banlog", "/bans", "/access", "/", "/settings", "/visitors?q=%3Cscript%3Ealert", "/queue?q=%22%3E%3Cimg%20src=x",
		"/api/frag/visitors", "/api/frag/banlog", "/api/frag/bans", "/api/frag/visitor?client=" + address, "/api/frag/ban?id=1", "/api/frag/find?q=" + address,
		"/api/frag/overview",
	} {
		all += d.want(200, "GET", path, "")
	}
	for _, bad := range []string{"<script>alert", "<img src=x", "<img/src=x", `onx='x`} {
		if at := strings.Index(all, bad); at >= 0 {
			t.Errorf("%s reaches the page:\n%s", bad, all[max(0, at-200):at+100])
		}
	}
	if strings.Count(all, "alert(1)") < 4 { // escaped in one way or another
		t.Error("what the client sent is not shown: this test sees nothing")
	}
}
