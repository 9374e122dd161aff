package blackbox

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/blackbox/launch"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// asClient is the header line that has a trusted peer speak for a client.
func asClient(address string) string { return "X-Forwarded-For: " + address }

// get sends a GET as the client of that address, with extra header lines.
func get(t *testing.T, p *launch.Process, address, path string, extra ...string) rawtest.Response {
	t.Helper()
	return raw(t, p, trusted, append([]string{"GET " + path + " HTTP/1.1", "Host: site.test", asClient(address)}, extra...)...)
}

// TestBanPathsInEverySpelling: scanners vary the spelling, and origins undo it.
func TestBanPathsInEverySpelling(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "5", "-ban-paths", "/.env,/.git/*,/phpmyadmin/*")
	for i, path := range []string{
		"/.env", "/%2eenv", "/%2Eenv", "/.e%6Ev", "//.env", "/./.env", "/a/../.env", "/.ENV", "/.env/", "/.env?x=1",
		"/.env;x=1", "/%252eenv", "/.env%00", "/.env%20", `/\.env`, "/%5c.env",
		"/.git/config", "///.git/config", "/.git%2fconfig", "/.git", "/.git/", `/.git\config`, "/PhpMyAdmin/x", "/phpmyadmin",
		"http://site.test/.env",
	} {
		client := "203.0.113." + itoa(i+1)
		first := get(t, p, client, path)
		if s := first.Status(); s != "429" && s != "400" {
			t.Errorf("%s: status %s, want banned or refused", path, s)
		}
		if s := get(t, p, client, "/").Status(); (s == "429") != (first.Status() == "429") {
			t.Errorf("%s: answered %s, and the next request %s", path, first.Status(), s)
		}
	}
	for _, line := range o.lines() {
		if strings.Contains(strings.ToLower(line), "env") || strings.Contains(line, "git") || strings.Contains(line, "admin") {
			t.Errorf("the origin got %q", line)
		}
	}
}

// TestBanPathsDoNotOverMatch: a false ban costs an honest visitor minutes.
func TestBanPathsDoNotOverMatch(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "5", "-ban-paths", "/.env,/.git/*", "-assets", "/css/*", "-bypass", "/.well-known/acme-challenge/*")
	paths := []string{
		"/.environment", "/.gitignore", "/.github/x", "/cssx/a", "/.well-known/acme-challenge-old/x", "/css", "/search?q=/.env",
		"/search?next=/.git/config", "/%23/x", "/.en", "/env", "/a/.env",
	}
	for _, path := range paths {
		if r := get(t, p, "203.0.113.9", path); r.Status() != "200" || !r.Has("Set-Cookie") {
			t.Errorf("%s: status %s, header %q; want an ordinary page", path, r.Status(), r.Fields)
		}
	}
	if n := len(o.Requests()); n != len(paths) {
		t.Errorf("%d of %d reached the origin", n, len(paths))
	}
}

// TestBanOnAnOpenConnection: a connection from before the ban is of no use.
func TestBanOnAnOpenConnection(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "5", "-ban-paths", "/.env", "-assets", "/css/*", "-bypass", "/hook")
	c := rawtest.DialFrom(t, stranger, p.Addr)
	ask := func(path string) string {
		c.Send("GET " + path + " HTTP/1.1\r\nHost: site.test\r\n\r\n")
		return c.ReadResponse("GET").Status()
	}
	if got := ask("/"); got != "200" {
		t.Fatalf("before: status %s", got)
	}
	for _, path := range []string{"/.env", "/", "/_room/healthz", "/_room/stats", "/hook", "/css/a.css"} {
		if got := ask(path); got != "429" {
			t.Errorf("%s: status %s, want 429", path, got)
		}
	}
	if n := len(o.Requests()); n != 1 {
		t.Errorf("reached the origin: %q", o.lines())
	}
}

// TestWhatTheBannedAreTold checks the notice in both forms, and that no cache
// keeps it.
func TestWhatTheBannedAreTold(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "5", "-ban-paths", "/.env", "-abuse-cooldown", "5m")
	v := newVisitor(t, p).at("203.0.113.9")
	v.page("/.env")
	page, program := v.page("/"), v.do(http.MethodGet, "/", "application/json", "")
	for _, a := range []answer{page, program} {
		checkUncached(t, a)
		if a.status != 429 || !slices.Contains([]string{"300", "299"}, a.header.Get("Retry-After")) {
			t.Errorf("status %d, header %v; want 429 and about 300 s", a.status, a.header)
		}
	}
	if !strings.HasPrefix(page.header.Get("Content-Type"), "text/html") || strings.Contains(page.body, "/queue/status") {
		t.Errorf("browser: %v %q", page.header, page.body)
	}
	if want := `"retry_after_seconds":` + program.header.Get("Retry-After"); !strings.Contains(program.body, `"error":"temporarily blocked"`) || !strings.Contains(program.body, want) {
		t.Errorf("program: %q, want it to hold %s", program.body, want)
	}
	if poll := v.do(http.MethodGet, "/queue/status", "application/json", ""); poll.status != 200 || !strings.Contains(poll.body, `"ready":true`) {
		t.Errorf("poll: status %d, body %q; want the page to load again", poll.status, poll.body)
	}
	if strings.Contains(p.Stdout(), "429") {
		t.Errorf("the access log holds requests of the banned:\n%s", p.Stdout())
	}
}

// TestWrongTokens: an address of one's own choosing buys no fresh tries.
func TestWrongTokens(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "5")
	try := func(address, authorization string) string {
		return raw(t, p, stranger, "POST /_room/cap HTTP/1.1", "Host: site.test", asClient(address),
			"Authorization: "+authorization, "Content-Length: 9", "", `{"cap":5}`).Status()
	}
	for i, authorization := range []string{"Bearer " + adminToken + "x", "Bearer wrong", "Basic " + adminToken, "Bearer " + adminToken[1:]} {
		if got := try("203.0.113."+itoa(i), authorization); got != "401" {
			t.Errorf("wrong token %d: status %s, want 401", i, got)
		}
	}
	if got := try("203.0.113.99", "Bearer "+adminToken); got != "429" {
		t.Errorf("the right token of a banned client: status %s, want 429", got)
	}
	if got := stats(t, p).Cap; got != 5 {
		t.Errorf("cap %d", got)
	}
}

// TestNoTokenSet: without a token there is nothing to guess.
func TestNoTokenSet(t *testing.T) {
	o := newOrigin(t)
	p := run(t, nil, "-upstream", "http://"+o.Addr())
	for range 6 {
		if r := raw(t, p, stranger, "GET /_room/abuse HTTP/1.1", "Host: site.test", "Authorization: Bearer guess"); r.Status() != "404" {
			t.Fatalf("status %s, want 404", r.Status())
		}
	}
}

// run starts Concert without the harness's token and origin.
func run(t *testing.T, env []string, args ...string) *launch.Process {
	t.Helper()
	return launched(t, launch.Options{Env: env, Args: args})
}

// TestForgedPassesBan: four changed passes ban; any number of another secret's
// passes does not.
func TestForgedPassesBan(t *testing.T) {
	o := newOrigin(t)
	older, newer := strings.Repeat("o", 32), strings.Repeat("n", 32)
	args := []string{"-upstream", "http://" + o.Addr(), "-assets", "/css/*"}
	v := newVisitor(t, run(t, []string{"CONCERT_ADMIT_SECRET=" + older}, args...))
	v.page("/")
	stale := v.cookie("concert_admit")

	p := run(t, []string{"CONCERT_ADMIT_SECRET=" + newer}, args...)
	ask := func(address, pass string) string {
		return get(t, p, address, "/css/a.css", "Cookie: concert_admit="+pass).Status()
	}
	for range 10 {
		if got := ask("203.0.113.1", stale); got != "403" {
			t.Fatalf("stale pass: status %s, want 403", got)
		}
	}
	if blocked(t, p, "203.0.113.1") {
		t.Error("banned for passes of another secret")
	}
	page := get(t, p, "203.0.113.1", "/", "Cookie: concert_admit="+stale)
	fresh, _, _ := strings.Cut(strings.TrimPrefix(page.Value("Set-Cookie"), "concert_admit="), ";")
	if got := ask("203.0.113.1", fresh); got != "200" {
		t.Fatalf("the pass of the next page: status %s, want 200", got)
	}
	forged := []byte(fresh)
	if middle := len(forged) - 8; forged[middle] == 'A' {
		forged[middle] = 'B'
	} else {
		forged[middle] = 'A'
	}
	for i := range 4 {
		if blocked(t, p, "203.0.113.2") {
			t.Errorf("banned after %d changed passes", i)
		}
		if got := ask("203.0.113.2", string(forged)); got != "403" {
			t.Errorf("changed pass %d: status %s, want 403", i+1, got)
		}
	}
	if !blocked(t, p, "203.0.113.2") {
		t.Error("not banned after four changed passes")
	}
	// A planted twin beside the good one harms nobody.
	for range 6 {
		ask("203.0.113.3", string(forged)+"; concert_admit="+fresh)
	}
	if blocked(t, p, "203.0.113.3") {
		t.Error("banned for a twin beside a valid pass")
	}
}

// TestCookielessArrivalsBan: whoever throws tickets away takes place after
// place, and so does whoever makes them up.
func TestCookielessArrivalsBan(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "1", quick)
	o.fill(t, p, 1)
	for name, cookie := range map[string]string{"203.0.113.1": "X: y", "203.0.113.2": "Cookie: room_ticket=made-up"} {
		for i := range 20 {
			if blocked(t, p, name) {
				t.Errorf("%s is banned after %d arrivals", name, i)
			}
			get(t, p, name, "/", "Accept: text/html", cookie)
		}
		if !blocked(t, p, name) {
			t.Errorf("%s is not banned after twenty arrivals with %q", name, cookie)
		}
	}
	rawtest.Until(t, "the places of the banned are gone", func() bool { return stats(t, p).QueueDepth == 0 })
}

// TestPreflightsEarnNothing: browsers send them without cookies by design.
func TestPreflightsEarnNothing(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "1", quick)
	o.fill(t, p, 1)
	for range 25 {
		raw(t, p, trusted, "OPTIONS /api/x HTTP/1.1", "Host: site.test", asClient("203.0.113.9"), "Origin: https://a.test", "Access-Control-Request-Method: PUT")
		raw(t, p, trusted, "GET / HTTP/1.1", "Host: site.test", asClient("203.0.113.9"), "Accept: text/html", "Sec-Purpose: prefetch")
		raw(t, p, trusted, "HEAD / HTTP/1.1", "Host: site.test", asClient("203.0.113.9"))
	}
	if blocked(t, p, "203.0.113.9") {
		t.Error("banned for questions that browsers ask by themselves")
	}
}

// TestSharedAddress: thousands can stand behind one address, and none of them
// is struck for waiting.
func TestSharedAddress(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "1", quick, "-abuse-allow", "198.51.100.0/24")
	o.fill(t, p, 1)
	for i := range 10 {
		v := newVisitor(t, p).at("203.0.113." + itoa(i+1))
		v.page("/")
		v.at("192.0.2.7") // all of them move behind one address
		for range 8 {
			v.page("/")
			v.do(http.MethodGet, "/queue/status", "application/json", "")
		}
	}
	if blocked(t, p, "192.0.2.7") {
		t.Error("visitors who kept their tickets got their address banned")
	}
	for range 40 {
		get(t, p, "198.51.100.7", "/", "Accept: text/html")
	}
	if blocked(t, p, "198.51.100.7") {
		t.Error("an address of -abuse-allow is banned")
	}
}

// TestOddPathsArePages: what resembles a listed path and is none arrives at the
// origin as a page, with its bytes.
func TestOddPathsArePages(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "5")
	for _, path := range []string{"/favicon.ico;x=1", "/favicon.ico.", "/favicon.ico%20", "/favicon.ico%00", `/favicon.ico\x`, "/favicon.ico%5cx", "/a%2Fb", "/\xff"} {
		r := get(t, p, "203.0.113.9", path)
		rs := o.Requests()
		if r.Status() != "200" || !r.Has("Set-Cookie") || len(rs) == 0 {
			t.Errorf("%q: status %s, header %q; want an ordinary page", path, r.Status(), r.Fields)
			continue
		}
		if got := strings.Fields(rs[len(rs)-1].Line)[1]; got != path && got != strings.ReplaceAll(path, `\`, "%5C") {
			t.Errorf("%q: the origin got %q", path, got)
		}
	}
}
