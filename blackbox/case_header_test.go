package blackbox

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/blackbox/launch"
	"github.com/andreimerlescu/concert/internal/parts"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// answering is an origin whose answers are looked up by path, byte for byte;
// any other path is an ordinary page.
func answering(t *testing.T, answers map[string]string) *origin {
	t.Helper()
	o := &origin{t: t, openAll: func() {}}
	o.Origin = rawtest.NewOrigin(t, func(x *rawtest.Exchange) {
		x.ReadBody()
		path, _, _ := strings.Cut(strings.SplitN(x.Request.Line, " ", 3)[1], "?")
		if answer, ok := answers[path]; ok {
			x.Write(answer)
			return
		}
		x.Write(okPage(x.Request))
	})
	return o
}

// TestConnectionCannotRemoveOurHeaders: naming a header in Connection makes it
// hop-by-hop, and must not do so to what Concert adds.
func TestConnectionCannotRemoveOurHeaders(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "5", "-client-proto-header", "X-Client-Proto")
	for _, connection := range [][]string{
		{"Connection: close, X-Forwarded-For, X-Forwarded-Proto, X-Forwarded-Host, Cookie"},
		{"Connection:", "Connection: X-Forwarded-For, X-Forwarded-Proto"},
		{"Connection: X-Client-Proto", "X-Client-Proto: HTTP/2.0"},
		{"Connection: keep-alive", "Connection: x-forwarded-for"},
		{"Connection: host", "Connection: Content-Length"},
	} {
		for _, peer := range []string{trusted, stranger} {
			c := rawtest.DialFrom(t, peer, p.Addr)
			c.Send("GET / HTTP/1.1\r\nHost: site.test\r\n" + strings.Join(connection, "\r\n") + "\r\n\r\n")
			if got := c.ReadResponse("GET"); got.Status() != "200" {
				t.Fatalf("%q: status %s", connection, got.Status())
			}
			c.Close()
			rs := o.Requests()
			r := rs[len(rs)-1]
			if r.Value("X-Forwarded-For") != peer || r.Value("X-Forwarded-Proto") != "http" || r.Value("Host") != "site.test" {
				t.Errorf("%q from %s: the origin got %q", connection, peer, r.Fields)
			}
			if list := strings.ToLower(strings.Join(r.Values("Connection"), ",")); strings.Contains(list, "x-") || strings.Contains(list, "host") {
				t.Errorf("%q from %s: the origin was told Connection: %s", connection, peer, list)
			}
		}
	}
}

// TestHopByHopHeadersStayOnTheirHop, in both directions, and all others pass.
func TestHopByHopHeadersStayOnTheirHop(t *testing.T) {
	o := answering(t, map[string]string{"/": "HTTP/1.1 200 OK\r\nConnection: X-Internal\r\nX-Internal: 1\r\nKeep-Alive: timeout=5\r\n" +
		"Proxy-Authenticate: Basic\r\nX-Kept: 1\r\nX-Kept: 2\r\nServer: origin/1\r\nContent-Length: 2\r\n\r\nok"})
	p := start(t, o.Addr(), "-cap", "5")
	c := rawtest.Dial(t, p.Addr)
	c.Send("GET / HTTP/1.1\r\nHost: site.test\r\nConnection: X-Secret\r\nX-Secret: 1\r\nKeep-Alive: 5\r\nProxy-Authorization: x\r\n" +
		"Proxy-Connection: keep-alive\r\nProxy: http://evil.example\r\nTE: gzip\r\nUpgrade: h2c\r\nX-Passed: a\r\nX-Passed: b\r\nAccept-Language: de\r\n\r\n")
	resp := c.ReadResponse("GET")
	r := o.Requests()[0]
	for _, name := range []string{"X-Secret", "Keep-Alive", "Proxy-Authorization", "Proxy-Connection", "Proxy", "TE", "Upgrade", "Connection"} {
		if r.Has(name) {
			t.Errorf("the origin got %s: %q", name, r.Values(name))
		}
	}
	for _, name := range []string{"X-Internal", "Keep-Alive", "Connection", "Proxy-Authenticate"} {
		if resp.Has(name) {
			t.Errorf("the client got %s: %q", name, resp.Values(name))
		}
	}
	if got := r.Values("X-Passed"); !slices.Equal(got, []string{"a", "b"}) || r.Value("Accept-Language") != "de" {
		t.Errorf("the origin got %q", r.Fields)
	}
	if got := resp.Values("X-Kept"); !slices.Equal(got, []string{"1", "2"}) || resp.Value("Server") != "origin/1" {
		t.Errorf("the client got %q", resp.Fields)
	}
}

// TestNothingIsInvented: a header that nobody sent stays absent. Invariant 7.
func TestNothingIsInvented(t *testing.T) {
	o := answering(t, map[string]string{
		"/":    "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n<html><b>",
		"/404": "HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\nContent-Length: 0\r\n\r\n",
		"/raw": "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: br\r\nContent-Length: 3\r\nETag: \"x\"\r\n\r\nabc",
	})
	p := start(t, o.Addr(), "-cap", "5", "-bypass", "/,/404,/raw")
	r := raw(t, p, trusted, "GET / HTTP/1.1", "Host: site.test")
	for _, name := range []string{"User-Agent", "Accept-Encoding", "Accept", "Content-Type", "Content-Length", "Transfer-Encoding", "Via", "Cookie"} {
		if got := o.Requests()[0]; got.Has(name) {
			t.Errorf("invariant 7: the origin got %s: %q", name, got.Values(name))
		}
	}
	for _, name := range []string{"Content-Type", "Set-Cookie", "Server", "Via", "Vary", "X-Content-Type-Options"} {
		if r.Has(name) {
			t.Errorf("invariant 7: the client got %s: %q", name, r.Values(name))
		}
	}
	for range 20 {
		for _, method := range []string{"GET", "HEAD"} {
			if r := raw(t, p, trusted, method+" /404 HTTP/1.1", "Host: site.test"); r.Status() != "404" || r.Value("Content-Type") != "text/html" {
				t.Fatalf("%s of an empty 404: status %s, header %q", method, r.Status(), r.Fields)
			}
		}
	}
	if r := raw(t, p, trusted, "GET /raw HTTP/1.1", "Host: site.test"); string(r.Body) != "abc" || r.Value("Content-Encoding") != "br" || r.Value("Content-Length") != "3" {
		t.Errorf("an encoded body: header %q, body %q", r.Fields, r.Body)
	}
}

// TestCookiesOfTheSitePassAsSent: whatever Concert takes out, the rest keeps
// its bytes.
func TestCookiesOfTheSitePassAsSent(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "5")
	for _, theirs := range []string{
		`a=1; prefs={"k":1}; caf=` + "\u00e9" + `; sp=a b`, `q="x, y"; back=\; bare; =novalue; a=1; a=2`, `a=1;b=2;  c=3`,
	} {
		for _, ours := range []string{"room_ticket=x; %s", "%s; concert_admit=x", "room_pass=; %s; room_probe=1; concert_priority=y"} {
			r := forwarded(t, o, p, trusted, []string{"GET /?a=1;b=2&c=%zz&d=ok HTTP/1.1", "Host: site.test", "Cookie: " + fmt.Sprintf(ours, theirs)})
			if got := r.Value("Cookie"); got != theirs {
				t.Errorf("the origin got %q, want %q", got, theirs)
			}
			if r.Line != "GET /?a=1;b=2&c=%zz&d=ok HTTP/1.1" {
				t.Errorf("the origin got %q", r.Line)
			}
		}
	}
}

// TestTrailers: without them a gRPC call has no status.
func TestTrailers(t *testing.T) {
	o := answering(t, map[string]string{"/": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Checksum\r\n\r\n3\r\nabc\r\n0\r\nX-Checksum: abc\r\n\r\n"})
	p := start(t, o.Addr(), "-cap", "5")
	c := rawtest.Dial(t, p.Addr)
	c.Send("GET / HTTP/1.1\r\nHost: site.test\r\nConnection: TE\r\nTE: trailers\r\n\r\n")
	if r := c.ReadResponse("GET"); string(r.Body) != "abc" || !slices.Contains(r.Trailers, "X-Checksum: abc") {
		t.Errorf("body %q, trailers %q, header %q", r.Body, r.Trailers, r.Fields)
	}
	if got := o.Requests()[0].Value("TE"); got != "trailers" {
		t.Errorf("the origin got TE: %q", got)
	}
}

// TestSwitchNobodyAskedFor: an origin that changes the protocol unasked has
// failed, and costs neither slots nor connections.
func TestSwitchNobodyAskedFor(t *testing.T) {
	o := answering(t, map[string]string{"/odd": "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: foo\r\n\r\n"})
	p := start(t, o.Addr(), "-cap", "10", quick) // an answer is there a moment before its slot is free
	for range 50 {
		if r := raw(t, p, trusted, "GET /odd HTTP/1.1", "Host: site.test"); r.Status() != "502" {
			t.Fatalf("status %s, want 502", r.Status())
		}
	}
	if a := newVisitor(t, p).page("/"); !a.isOrigin() {
		t.Errorf("the next page: status %d", a.status)
	}
	rawtest.Until(t, "the connections to the origin are closed", func() bool { return o.Open() <= 2 })
}

// TestHostAndRedirects: the origin's redirects and cookies are the client's to
// follow and keep.
func TestHostAndRedirects(t *testing.T) {
	o := answering(t, map[string]string{"/": "HTTP/1.1 302 Found\r\nLocation: http://shop.example/x\r\nSet-Cookie: a=1; Path=/\r\nSet-Cookie: b=2\r\nContent-Length: 0\r\n\r\n"})
	for preserve, want := range map[string]string{"true": "shop.example:8443", "false": o.Addr()} {
		p := start(t, o.Addr(), "-cap", "5", "-preserve-host="+preserve)
		before := len(o.Requests())
		r := raw(t, p, trusted, "GET / HTTP/1.1", "Host: shop.example:8443")
		cookies := r.Values("Set-Cookie")
		if r.Status() != "302" || r.Value("Location") != "http://shop.example/x" || len(cookies) < 2 || !slices.Contains(cookies, "a=1; Path=/") || !slices.Contains(cookies, "b=2") {
			t.Errorf("status %s, header %q", r.Status(), r.Fields)
		}
		if rs := o.Requests()[before:]; len(rs) != 1 || rs[0].Value("Host") != want || len(rs[0].Values("Host")) != 1 {
			t.Errorf("-preserve-host=%s: the origin got %+v, want one request to %q", preserve, rs, want)
		}
	}
}

// TestFatCookies: a site's own cookies can be large, and must not shut anybody
// out.
func TestFatCookies(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "1", quick, "-assets", "/css/*")
	v := newVisitor(t, p)
	v.page("/")
	var fat strings.Builder
	for i := range 24 {
		fmt.Fprintf(&fat, "site%d=%s; ", i, strings.Repeat("x", 1000))
	}
	theirs := strings.TrimSuffix(fat.String(), "; ")
	cookie := "Cookie: concert_admit=" + v.cookie("concert_admit") + "; " + theirs
	for _, path := range []string{"/", "/css/a.css"} {
		idle(t, p)
		if r := forwarded(t, o, p, trusted, []string{"GET " + path + " HTTP/1.1", "Host: site.test", cookie}); r.Value("Cookie") != theirs {
			t.Errorf("%s: the origin got %d bytes of cookies, want %d", path, len(r.Value("Cookie")), len(theirs))
		}
	}
	o.fill(t, p, 1)
	r := raw(t, p, trusted, "GET / HTTP/1.1", "Host: site.test", "Accept: text/html", cookie)
	if r.Status() != "200" || !strings.Contains(string(r.Body), `id="position">1<`) {
		t.Errorf("full room: status %s", r.Status())
	}
	ticket, _, _ := strings.Cut(strings.TrimPrefix(r.Value("Set-Cookie"), "room_ticket="), ";")
	if r = raw(t, p, trusted, "GET /queue/status HTTP/1.1", "Host: site.test", cookie+"; room_ticket="+ticket); !strings.Contains(string(r.Body), `"position":1`) {
		t.Errorf("poll: status %s, body %q", r.Status(), r.Body)
	}
}

// TestEnvironmentsProxy: the machine's proxy is not for talking to the origin.
func TestEnvironmentsProxy(t *testing.T) {
	o := newOrigin(t)
	_, port, _ := net.SplitHostPort(o.Addr())
	// Go never asks a proxy for loopback addresses, and 0.0.0.0 is none to it.
	p := run(t, []string{"HTTP_PROXY=http://127.0.0.1:1", "http_proxy=http://127.0.0.1:1", "NO_PROXY="}, "-upstream", "http://0.0.0.0:"+port)
	if a := newVisitor(t, p).page("/"); !a.isOrigin() {
		t.Errorf("status %d, body %q", a.status, a.body)
	}
}

// TestOriginTrouble: refused is 502 and silent is 504, and the slot is free.
func TestOriginTrouble(t *testing.T) {
	silent := rawtest.NewOrigin(t, func(x *rawtest.Exchange) { x.ReadBody(); x.AwaitEnd() })
	for want, p := range map[int]*launch.Process{
		http.StatusBadGateway:     start(t, parts.Address(t), "-cap", "1"),
		http.StatusGatewayTimeout: start(t, silent.Addr(), "-cap", "1", "-upstream-timeout", "50ms"),
	} {
		for range 2 {
			a := newVisitor(t, p).page("/")
			if a.status != want {
				t.Errorf("status %d, want %d", a.status, want)
			}
			checkUncached(t, a)
		}
		rawtest.Until(t, "the slot is free", func() bool { return stats(t, p).Occupancy == 0 })
	}
}
