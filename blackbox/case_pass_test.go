package blackbox

import (
	"net/http"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/internal/rawtest"
)

// TestNoRefusalIsCached: Concert answers under the site's own addresses, so
// what it says there must not outlive the moment.
func TestNoRefusalIsCached(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "1", "-max-queue", "2", quick, "-ban-paths", "/.env", "-assets", "/hold/css/*", "-stream-paths", "/ws",
		"-asset-cap", "1", "-asset-wait", "0", "-asset-user-cap-h1", "1", "-asset-user-wait", "0", "-stream-cap", "1")
	v := newVisitor(t, p).at("203.0.113.1")
	v.page("/")
	o.fill(t, p, 1)
	waiting := newVisitor(t, p).at("203.0.113.2")
	held := later(func() answer { return v.page("/hold/css/a.css") })
	rawtest.Until(t, "the asset is at the origin", func() bool { return countLines(o, "GET /hold/css/a.css HTTP/1.1") == 1 })
	other := newVisitor(t, p).at("203.0.113.4")
	banned := newVisitor(t, p).at("203.0.113.3")
	for name, tt := range map[string]struct {
		a      answer
		status int
	}{
		"waiting page":       {waiting.page("/"), 200},
		"waiting program":    {waiting.do(http.MethodGet, "/", "application/json", ""), 429},
		"status":             {waiting.do(http.MethodGet, "/queue/status", "", ""), 200},
		"status, no cookie":  {newVisitor(t, p).do(http.MethodGet, "/queue/status", "", ""), 200},
		"form":               {waiting.do(http.MethodPost, "/", "text/html", "a=1"), 503},
		"preflight":          {other.do(http.MethodOptions, "/", "", ""), 503},
		"asset, no pass":     {other.page("/hold/css/a.css"), 403},
		"asset, own limit":   {v.page("/hold/css/b.css"), 429},
		"stream, no pass":    {other.page("/ws"), 403},
		"ban path":           {banned.page("/.env"), 429},
		"banned":             {banned.page("/"), 429},
		"banned, poll":       {banned.do(http.MethodGet, "/queue/status", "", ""), 200},
		"reserved, unknown":  {other.page("/_room/x"), 404},
		"reserved, method":   {other.do(http.MethodPost, "/_room/stats", "", ""), 405},
		"operations, secret": {other.do(http.MethodPost, "/_room/cap", "", "{}"), 401},
		"stats":              {other.page("/_room/stats"), 200},
	} {
		if tt.a.status != tt.status {
			t.Errorf("%s: status %d, want %d", name, tt.a.status, tt.status)
		}
		if got := tt.a.header.Get("Cache-Control"); !strings.Contains(got, "no-store") || tt.a.header.Get("Etag") != "" {
			t.Errorf("%s: Cache-Control %q, want no-store", name, got)
		}
	}
	o.openAll()
	<-held
}

// TestPassSlides: only a pass past half its life is renewed, and an answer
// that carries one is nobody else's.
func TestPassSlides(t *testing.T) {
	public := "HTTP/1.1 200 OK\r\nCache-Control: public, max-age=31536000\r\nContent-Length: 2\r\n\r\nok"
	o := answering(t, map[string]string{"/css/a.css": public, "/shared": public})
	p := start(t, o.Addr(), "-cap", "5", "-assets", "/css/*")
	v := newVisitor(t, p)
	v.page("/")
	for range 3 {
		if a := v.page("/css/a.css"); a.status != 200 || a.header.Get("Set-Cookie") != "" || a.header.Get("Cache-Control") != "public, max-age=31536000" {
			t.Errorf("with a fresh pass: status %d, header %v", a.status, a.header)
		}
	}
	if a := v.page("/shared"); a.header.Get("Set-Cookie") != "" || a.header.Get("Cache-Control") != "public, max-age=31536000" {
		t.Errorf("page with a fresh pass: header %v", a.header)
	}
	a := newVisitor(t, p).page("/shared")
	if got := a.header.Get("Cache-Control"); !strings.Contains(a.header.Get("Set-Cookie"), "concert_admit=") || strings.Contains(got, "public") {
		t.Errorf("page that issues a pass: Cache-Control %q, Set-Cookie %q; want it private", got, a.header.Get("Set-Cookie"))
	}
}

// TestTicketsOfNobody: a made-up ticket is none, and is told so; the waiting
// page of a banned visitor loads again into the notice.
func TestTicketsOfNobody(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "1", quick, "-ban-paths", "/.env")
	o.fill(t, p, 1)
	v := newVisitor(t, p).at("203.0.113.1")
	v.page("/")
	ticket := v.cookie("room_ticket")
	get(t, p, "203.0.113.1", "/.env")
	rawtest.Until(t, "the place of the banned is gone", func() bool { return stats(t, p).QueueDepth == 0 })
	if r := get(t, p, "203.0.113.1", "/queue/status", "Cookie: room_ticket="+ticket); r.Status() != "200" || !strings.Contains(string(r.Body), `"ready":true`) {
		t.Errorf("poll of the banned: status %s, body %q", r.Status(), r.Body)
	}
	if r := get(t, p, "203.0.113.1", "/", "Cookie: room_ticket="+ticket); !strings.Contains(strings.Join(r.Values("Set-Cookie"), "\n"), "Max-Age=0") {
		t.Errorf("the ticket of the banned is not cleared: %q", r.Fields)
	}
}
