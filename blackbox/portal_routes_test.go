package blackbox

import (
	"encoding/json"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/andreimerlescu/concert/blackbox/launch"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// attack is a way to send a request that must come to nothing.
type attack struct {
	name   string
	source string // address of the connection
	host   string // "" is the portal's own
	lines  []string
	status []string // acceptable
}

// TestPortalRefusesOnEveryRoute goes through the routes that the portal's own
// description has, on the running program: cross-site, rebinding, foreign,
// replayed and tampered requests are refused and change nothing.
func TestPortalRefusesOnEveryRoute(t *testing.T) {
	t.Parallel()
	o, dir := newOrigin(t), dataDir(t)
	p, portal := startPortal(t, dir, o.Addr(), "-cap", "1", quick)
	d, viewer, gone := signIn(t, p, portal, operatorPass), signIn(t, p, portal, viewerPass), signIn(t, p, portal, operatorPass)
	replayed := cookieOf(t, gone)
	gone.do("POST", "/logout", "text/html", "csrf="+gone.csrf)
	good := cookieOf(t, d)
	tampered := flip(good)
	o.fill(t, p, 1)
	newVisitor(t, p).page("/")
	id := d.occupants()[0]

	token := func(csrf, cookie string) []string {
		return []string{"X-CSRF-Token: " + csrf, "Cookie: concert_portal=" + cookie}
	}
	refused := []string{"401", "403", "303"}
	attacks := []attack{
		{"another site", "127.0.0.1", "", append(token(d.csrf, good), "Sec-Fetch-Site: cross-site"), []string{"403"}},
		{"another origin", "127.0.0.1", "", append(token(d.csrf, good), "Origin: https://evil.example"), []string{"403"}},
		{"another name", "127.0.0.1", "evil.example", token(d.csrf, good), []string{"421"}},
		{"another address", "127.0.0.2", "", append(token(d.csrf, good), "X-Forwarded-For: 127.0.0.1"), []string{"403"}},
		{"without the token", "127.0.0.1", "", []string{"Cookie: concert_portal=" + good}, refused},
		{"another's token", "127.0.0.1", "", token(viewer.csrf, good), refused},
		{"a tampered cookie", "127.0.0.1", "", token(d.csrf, tampered), refused},
		{"a session that ended", "127.0.0.1", "", token(gone.csrf, replayed), refused},
		{"a viewer", "127.0.0.1", "", token(viewer.csrf, cookieOf(t, viewer)), refused},
		{"a wrong admin token", "127.0.0.1", "", []string{"Authorization: Bearer wrong"}, append([]string{"429"}, refused...)},
	}
	before := stateOf(t, p, dir)
	changing := 0
	for _, r := range changes(t, d) {
		if r.path == "/login" || r.path == "/logout" {
			continue
		}
		changing++
		for _, a := range attacks {
			answer := a.send(t, portal, r, id)
			if !slices.Contains(a.status, answer.Status()) {
				t.Errorf("%s: %s %s: %s %s", a.name, r.method, r.path, answer.Status(), answer.Body)
			}
		}
	}
	if after := stateOf(t, p, dir); after != before {
		t.Errorf("something was changed:\n%s\nwas\n%s", after, before)
	}
	if changing < 10 {
		t.Errorf("only %d routes change something: this test sees too little", changing)
	}
	d.want(200, "POST", "/api/queue/kick", `{"id":"`+id+`"}`) // and in earnest
}

// routeOf is an operation of the description.
type routeOf struct{ method, path string }

// changes are the operations that are not for reading.
func changes(t *testing.T, d *desk) (out []routeOf) {
	t.Helper()
	var doc struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal([]byte(d.want(200, "GET", "/api/openapi.json", "")), &doc); err != nil {
		t.Fatal(err)
	}
	for path, methods := range doc.Paths {
		for method := range methods {
			if m := strings.ToUpper(method); m != http.MethodGet {
				out = append(out, routeOf{m, path})
			}
		}
	}
	return out
}

// bodies are what the routes would carry out, were the request a good one.
func (r routeOf) request(id string) (path, body string) {
	bodies := map[string]string{
		"POST /api/queue/promote": `{"id":"` + id + `"}`, "POST /api/queue/kick": `{"id":"` + id + `","ban":true}`,
		"POST /api/room": `{"room":"closed"}`, "POST /api/cap": `{"cap":7}`, "POST /api/bans": `{"client":"203.0.113.9","permanent":true}`,
		"POST /api/settings": `{"cap":7}`, "POST /api/undo": `{"undo":"x"}`,
	}
	path = r.path
	switch r.method + " " + r.path {
	case "DELETE /api/bans":
		path += "?client=203.0.113.9"
	case "DELETE /api/settings":
		path += "?key=cap"
	case "DELETE /api/sessions":
		path += "?id=0011223344556677"
	}
	return path, bodies[r.method+" "+r.path]
}

func (a attack) send(t *testing.T, portal string, r routeOf, id string) rawtest.Response {
	t.Helper()
	addr := strings.TrimPrefix(portal, "http://")
	host := a.host
	if host == "" {
		host = addr
	}
	path, body := r.request(id)
	c := rawtest.DialFrom(t, a.source, addr)
	defer c.Close()
	c.Send(strings.Join(append([]string{r.method + " " + path + " HTTP/1.1", "Host: " + host, "Content-Length: " + itoa(len(body)), "Connection: close"}, a.lines...), "\r\n") + "\r\n\r\n" + body)
	return c.ReadResponse(r.method)
}

// cookieOf is the value of a session's cookie.
func cookieOf(t *testing.T, d *desk) string {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, d.base, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range d.client.Jar.Cookies(req.URL) {
		if c.Name == "concert_portal" {
			return c.Value
		}
	}
	t.Fatal("no session")
	return ""
}

// flip changes a cookie in its middle.
func flip(value string) string {
	other := "A"
	if value[20] == 'A' {
		other = "B"
	}
	return value[:20] + other + value[21:]
}

// stateOf is what operators can change.
func stateOf(t *testing.T, p *launch.Process, dir string) string {
	t.Helper()
	s := stats(t, p)
	return read(t, dir, "settings.json") + read(t, dir, "audit.jsonl") + read(t, dir, "sessions.json") + read(t, dir, "bans.journal") +
		itoa(s.Cap) + " " + itoa(s.QueueDepth) + admin(t, p, http.MethodGet, "/_room/abuse", "", 200)
}

// TestPortalAmongStrangers: who holds connections open without being allowed has
// few of them, and keeps no operator out.
func TestPortalAmongStrangers(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	p, portal := startPortal(t, "", o.Addr())
	addr := strings.TrimPrefix(portal, "http://")
	const strangers, kept = 600, 256
	var closed atomic.Int32
	from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 3)}}
	for range strangers {
		c, err := from.DialContext(t.Context(), "tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		go func() { // ends with the connection
			_, _ = c.Read(make([]byte, 1))
			closed.Add(1)
		}()
	}
	rawtest.Until(t, "strangers made room for each other", func() bool { return closed.Load() >= strangers-kept })
	d := signIn(t, p, portal, operatorPass)
	d.want(200, "GET", "/api/overview", "")
	c := rawtest.DialFrom(t, "127.0.0.4", addr)
	defer c.Close()
	c.Send("GET / HTTP/1.1\r\nHost: " + addr + "\r\n\r\n")
	if r := c.ReadResponse("GET"); r.Status() != "403" {
		t.Errorf("the next stranger: %s", r.Status())
	}
}
