package blackbox

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/internal/rawtest"
)

// quick keeps requests from being held at the door, so that a test sees the
// waiting page at once.
const quick = "-door-max=0"

func TestWaitingThenAdmission(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "1", quick)
	o.fill(t, p, 1)

	v := newVisitor(t, p)
	a := v.page("/shop?x=1")
	if a.status != http.StatusOK || !a.isWaitingPage() {
		t.Fatalf("status %d, body %q: want the waiting page", a.status, a.body)
	}
	if !strings.Contains(a.body, `id="position">1<`) {
		t.Errorf("the page does not show place 1:\n%s", a.body)
	}
	checkUncached(t, a)
	if got := a.header.Get("X-Robots-Tag"); !strings.Contains(got, "noindex") {
		t.Errorf("X-Robots-Tag %q, want noindex", got)
	}
	if v.cookie("room_ticket") == "" || v.cookie("concert_admit") != "" {
		t.Error("a waiting visitor must have a ticket and no pass")
	}
	st := v.status()
	if st.Ready || st.Position != 1 || st.PollAfterMS <= 0 || st.CookiesRequired {
		t.Errorf("status %+v, want place 1 and a time to ask again", st)
	}

	o.letGo()
	v.awaitTurn()
	if a = v.page("/shop?x=1"); !a.isOrigin() || !strings.Contains(a.body, "GET /shop?x=1 HTTP/1.1") {
		t.Fatalf("status %d, body %q: want the origin's page", a.status, a.body)
	}
	if v.cookie("concert_admit") == "" {
		t.Error("the admitted page carries no pass")
	}
	o.sawNoCookie(t, "room_ticket")
}

func TestDoorHoldsWhoeverIsNext(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "1", "-door-wait", "20s")
	// One page teaches the line that pages are short; then a turn is near.
	if a := newVisitor(t, p).page("/"); !a.isOrigin() {
		t.Fatalf("an empty room does not let in: status %d", a.status)
	}
	o.fill(t, p, 1)
	v := newVisitor(t, p)
	next := later(func() answer { return v.page("/next") })
	rawtest.Until(t, "the visitor stands at the door", func() bool { return stats(t, p).AtDoor == 1 })
	o.letGo()
	if a := <-next; !a.isOrigin() {
		t.Errorf("status %d, body %q: want the origin's page without a waiting page", a.status, a.body)
	}
}

// checkUncached: the waiting room is shown under the site's own addresses, so
// no cache may keep it.
func checkUncached(t *testing.T, a answer) {
	t.Helper()
	if got := a.header.Get("Cache-Control"); !strings.Contains(got, "no-store") {
		t.Errorf("Cache-Control %q, want no-store", got)
	}
	for _, name := range []string{"Etag", "Last-Modified"} {
		if got := a.header.Get(name); got != "" {
			t.Errorf("%s %q, want none", name, got)
		}
	}
}

func TestWhoGetsJSON(t *testing.T) {
	o := newOrigin(t)
	full := start(t, o.Addr(), "-cap", "1", "-retry-after", "7", quick)
	o.fill(t, full, 1)
	never := start(t, o.Addr(), "-cap", "1", "-api-json=false", quick)
	o.fill(t, never, 1)
	tests := []struct {
		name   string
		always bool // -api-json=false
		accept []string
		others []string
		html   bool
	}{
		{name: "no Accept"},
		{name: "any", accept: []string{"*/*"}},
		{name: "json", accept: []string{"application/json"}},
		{name: "html refused", accept: []string{"text/html;q=0, */*"}},
		{name: "upper case", accept: []string{"TEXT/HTML"}, html: true},
		{name: "low weight", accept: []string{"application/json, text/html;q=0.1"}, html: true},
		{name: "second line", accept: []string{"application/json", "text/html"}, html: true},
		{name: "h2c offered", accept: []string{"*/*"}, others: []string{"Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA"}},
		{name: "script", accept: []string{"text/html"}, others: []string{"Sec-Fetch-Dest: empty", "Sec-Fetch-Mode: cors"}},
		{name: "page through a service worker", accept: []string{"text/html"}, others: []string{"Sec-Fetch-Dest: empty", "Sec-Fetch-Mode: navigate"}, html: true},
		{name: "page for everyone", always: true, accept: []string{"application/json"}, html: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := full
			if tt.always {
				p = never
			}
			lines := append([]string{"GET /api HTTP/1.1", "Host: site.test"}, tt.others...)
			for _, accept := range tt.accept {
				lines = append(lines, "Accept: "+accept)
			}
			r := raw(t, p, "127.0.0.1", lines...)
			if tt.html {
				if r.Status() != "200" || !strings.Contains(string(r.Body), "/queue/status") {
					t.Errorf("status %s, body %q: want the waiting page", r.Status(), r.Body)
				}
				return
			}
			checkQueuedJSON(t, r)
		})
	}
}

// checkQueuedJSON checks the whole answer to a program that has to wait.
func checkQueuedJSON(t *testing.T, r rawtest.Response) {
	t.Helper()
	var body struct {
		Queued    bool   `json:"queued"`
		Retry     int    `json:"retry_after_seconds"`
		StatusURL string `json:"status_url"`
		Hint      string `json:"hint"`
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		t.Fatalf("status %s, body %q: %v", r.Status(), r.Body, err)
	}
	if r.Status() != "429" || !body.Queued || body.StatusURL != "/queue/status" || body.Hint == "" || body.Retry < 7 {
		t.Errorf("status %s, body %+v", r.Status(), body)
	}
	if r.Value("Retry-After") == "" || !strings.HasPrefix(r.Value("Set-Cookie"), "room_ticket=") ||
		!strings.Contains(r.Value("Cache-Control"), "no-store") {
		t.Errorf("header lines %q", r.Fields)
	}
}

func TestFullLine(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "1", "-max-queue", "1", quick)
	o.fill(t, p, 1)
	if a := newVisitor(t, p).page("/"); !a.isWaitingPage() {
		t.Fatalf("first: status %d, want the waiting page", a.status)
	}
	late := newVisitor(t, p)
	a := late.page("/")
	if a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" ||
		!strings.HasPrefix(a.header.Get("Content-Type"), "text/html") {
		t.Errorf("browser: status %d, header %v; want a page with 503 and Retry-After", a.status, a.header)
	}
	if strings.Contains(a.body, "/queue/status") {
		t.Error("the page of a full line has nothing to poll for, and must not look like a waiting page")
	}
	checkUncached(t, a)
	b := late.do(http.MethodGet, "/", "application/json", "")
	if b.status != http.StatusServiceUnavailable || !json.Valid([]byte(b.body)) || b.header.Get("Retry-After") == "" {
		t.Errorf("program: status %d, body %q; want JSON with 503 and Retry-After", b.status, b.body)
	}
}

func TestFormsAreNotSwallowed(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "1", quick)
	o.fill(t, p, 1)
	v := newVisitor(t, p)
	a := v.do(http.MethodPost, "/order", "text/html", "item=1")
	if a.status != http.StatusServiceUnavailable || a.isWaitingPage() || !strings.Contains(a.body, "not sent") {
		t.Errorf("status %d, body %q: want to be told that nothing was sent", a.status, a.body)
	}
	if v.cookie("room_ticket") != "" {
		t.Error("a form took a place in line")
	}
	o.openAll()
	rawtest.Until(t, "the room is free", func() bool { return stats(t, p).Occupancy == 0 })
	if a = v.do(http.MethodPost, "/order", "text/html", "item=1"); !a.isOrigin() {
		t.Errorf("free room: status %d", a.status)
	}
	if n := countLines(o, "POST /order HTTP/1.1"); n != 1 {
		t.Errorf("the origin got the form %d times, want once", n)
	}
}

// TestGlimpsesTakeNothing: speculative requests and questions take no place.
func TestGlimpsesTakeNothing(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "1", quick)
	o.fill(t, p, 1)
	tests := map[string][]string{
		"HEAD":      {"HEAD / HTTP/1.1", "Host: site.test", "Accept: text/html"},
		"preflight": {"OPTIONS /api HTTP/1.1", "Host: site.test", "Origin: https://a.test", "Access-Control-Request-Method: POST"},
		"prefetch":  {"GET / HTTP/1.1", "Host: site.test", "Accept: text/html", "Sec-Purpose: prefetch"},
		"prerender": {"GET / HTTP/1.1", "Host: site.test", "Accept: text/html", "Sec-Purpose: prefetch;prerender"},
	}
	for name, lines := range tests {
		r := raw(t, p, "127.0.0.1", lines...)
		if r.Status() != "503" || r.Has("Set-Cookie") {
			t.Errorf("%s: status %s, header %q; want 503 and no ticket", name, r.Status(), r.Fields)
		}
	}
	if s := stats(t, p); s.QueueDepth != 0 {
		t.Errorf("%d places taken, want none", s.QueueDepth)
	}
	if n := len(o.Requests()); n != 1 {
		t.Errorf("the origin saw %q", o.lines())
	}
}

func countLines(o *origin, want string) int {
	n := 0
	for _, line := range o.lines() {
		if line == want {
			n++
		}
	}
	return n
}
