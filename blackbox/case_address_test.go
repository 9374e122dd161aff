package blackbox

import (
	"fmt"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/blackbox/launch"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// The peers of these tests: one that Concert trusts by default, and one that
// it does not.
const (
	trusted  = "127.0.0.1"
	stranger = "127.0.0.2"
)

// blocked reports whether the client of that address is banned.
func blocked(t *testing.T, p *launch.Process, address string) bool {
	t.Helper()
	switch status := raw(t, p, trusted, "GET /_room/healthz HTTP/1.1", "Host: site.test", "X-Forwarded-For: "+address).Status(); status {
	case "200":
		return false
	case "429", "403":
		return true
	default:
		t.Fatalf("health check as %s: status %s", address, status)
		return false
	}
}

// TestWhoseRequestItWas asks for a ban path with all kinds of chains, and looks
// who is banned afterwards.
func TestWhoseRequestItWas(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("z", 4000)
	tests := []struct {
		name         string
		peer         string
		chain        []string // X-Forwarded-For lines
		banned, free []string
	}{
		{"port", trusted, []string{"203.0.113.9:4711"}, []string{"203.0.113.9"}, []string{"203.0.113.10"}},
		{"IPv6 with port", trusted, []string{"[2001:db8:1:2::5]:443"}, []string{"2001:db8:1:2::77"}, []string{"2001:db8:1:3::5"}},
		{"brackets", trusted, []string{"[2001:db8:5:6::1]"}, []string{"2001:db8:5:6::2"}, []string{"2001:db8:5:7::1"}},
		{"zone", trusted, []string{"fe80::1%eth0"}, nil, []string{"203.0.113.9"}},
		{"long zone", trusted, []string{"::1%" + long}, nil, []string{"203.0.113.9"}},
		{"IPv4 as IPv6", trusted, []string{"::ffff:203.0.113.9"}, []string{"203.0.113.9"}, []string{"203.0.113.10"}},
		{"stranger's chain", stranger, []string{"203.0.113.9"}, []string{"127.0.0.2"}, []string{"203.0.113.9"}},
		{"made-up first entry", trusted, []string{"127.0.0.1, 203.0.113.9"}, []string{"203.0.113.9"}, nil},
		{"two lines", trusted, []string{"203.0.113.40", "203.0.113.9"}, []string{"203.0.113.9"}, []string{"203.0.113.40"}},
		{"garbage to the left", trusted, []string{"garbage, 203.0.113.9"}, []string{"203.0.113.9"}, nil},
		{"blank to the right", trusted, []string{"203.0.113.9, , "}, []string{"203.0.113.9"}, nil},
		{"blank to the left", trusted, []string{",,203.0.113.9"}, []string{"203.0.113.9"}, nil},
		{"unknown to the right", trusted, []string{"203.0.113.40, unknown"}, nil, []string{"203.0.113.40"}},
		{"no address", trusted, []string{"203.0.113.999"}, nil, []string{"203.0.113.99"}},
		{"nothing", trusted, nil, nil, []string{"203.0.113.9"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := newOrigin(t)
			p := start(t, o.Addr(), "-cap", "5", "-ban-paths", "/.env")
			lines := []string{"GET /.env HTTP/1.1", "Host: site.test"}
			for _, chain := range tt.chain {
				lines = append(lines, "X-Forwarded-For: "+chain)
			}
			r := raw(t, p, tt.peer, lines...)
			if r.Status()[0] == '5' || strings.Contains(strings.Join(r.Fields, "\n")+string(r.Body), "zzz") {
				t.Errorf("status %s, header %q", r.Status(), r.Fields)
			}
			for _, address := range tt.banned {
				if !blocked(t, p, address) {
					t.Errorf("%s is not banned", address)
				}
			}
			for _, address := range append(tt.free, "127.0.0.1") {
				if blocked(t, p, address) {
					t.Errorf("%s is banned", address)
				}
			}
			if log := p.Stderr() + p.Stdout(); strings.Contains(log, "zzz") || strings.Contains(log, "eth0") || strings.Contains(log, ":4711") {
				t.Errorf("the log repeats what is no address:\n%s", log)
			}
		})
	}
}

// TestProxyIsNotBannedForItsVisitors: what the trusted proxy asks for itself is
// no offence, and each visitor behind it stands for themselves.
func TestProxyIsNotBannedForItsVisitors(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "5", "-ban-paths", "/.env")
	for range 30 {
		raw(t, p, trusted, "GET /.env HTTP/1.1", "Host: site.test")
	}
	if a := newVisitor(t, p).at("203.0.113.9").page("/"); !a.isOrigin() {
		t.Errorf("a visitor behind the same proxy: status %d", a.status)
	}
	if a := newVisitor(t, p).at("203.0.113.9").page("/.env"); a.status != 429 {
		t.Errorf("a visitor asks for a ban path: status %d, want 429", a.status)
	}
	if !blocked(t, p, "203.0.113.9") || blocked(t, p, "203.0.113.10") {
		t.Error("want exactly the visitor who asked banned")
	}
}

// tierArgs gives every tier a path: /page, /css/, /pub/, /hook and /ws.
var tierArgs = []string{"-cap", "5", "-assets", "/css/*", "-asset-public", "/pub/*", "-bypass", "/hook", "-stream-paths", "/ws,/events"}

// tierRequests are one request for each tier, without Host and cookies.
var tierRequests = map[string][]string{
	"page":         {"GET /page HTTP/1.1"},
	"asset":        {"GET /css/a.css HTTP/1.1"},
	"public asset": {"GET /pub/a.png HTTP/1.1"},
	"bypass":       {"POST /hook HTTP/1.1", "Content-Length: 0"},
	"events":       {"GET /events HTTP/1.1", "Accept: text/event-stream"},
}

// TestChainIsAppendedToOnce: applications count hops from the right, so each
// tier adds exactly one, in one line.
func TestChainIsAppendedToOnce(t *testing.T) {
	checkClaims(t, "X-Forwarded-For", []claim{
		{trusted, []string{"198.51.100.1, 203.0.113.9"}, "198.51.100.1, 203.0.113.9, 127.0.0.1"},
		{trusted, []string{"198.51.100.1", "203.0.113.9"}, "198.51.100.1, 203.0.113.9, 127.0.0.1"},
		{trusted, nil, "127.0.0.1"},
		{stranger, []string{"198.51.100.1, 203.0.113.9"}, "127.0.0.2"},
		{stranger, nil, "127.0.0.2"},
	}, func(got string, c claim) bool { return got == c.want })
}

// claim is what a peer says in lines of a field, and what the origin is to be
// told of it.
type claim struct {
	peer string
	sent []string
	want string
}

// checkClaims makes each claim on every tier. The origin must get one line, of
// which good decides.
func checkClaims(t *testing.T, field string, claims []claim, good func(got string, c claim) bool) {
	t.Helper()
	o := newOrigin(t)
	p := start(t, o.Addr(), tierArgs...)
	v := newVisitor(t, p)
	v.page("/page")
	for tier, request := range tierRequests {
		for _, c := range claims {
			lines := append(append([]string{}, request...), "Host: site.test", "Cookie: concert_admit="+v.cookie("concert_admit"))
			for _, value := range c.sent {
				lines = append(lines, field+": "+value)
			}
			if got := forwarded(t, o, p, c.peer, lines).Values(field); len(got) != 1 || !good(got[0], c) {
				t.Errorf("%s from %s with %q: the origin got %q, want %q", tier, c.peer, c.sent, got, c.want)
			}
		}
	}
}

// forwarded sends a request and returns it as the origin got it.
func forwarded(t *testing.T, o *origin, p *launch.Process, peer string, lines []string) rawtest.Request {
	t.Helper()
	before := len(o.Requests())
	r := raw(t, p, peer, lines...)
	rs := o.Requests()
	if len(rs) != before+1 {
		t.Fatalf("%q: status %s, and %d requests at the origin instead of one", lines, r.Status(), len(rs)-before)
	}
	return rs[before]
}

// TestSchemeSurvives: an application that is told the wrong scheme redirects
// for ever.
func TestSchemeSurvives(t *testing.T) {
	checkClaims(t, "X-Forwarded-Proto", []claim{
		{trusted, []string{"https"}, "https"},
		{trusted, []string{"https", "https"}, "https"},
		{trusted, []string{"https, http"}, "https"},
		{trusted, nil, "http"},
		{stranger, []string{"https"}, "http"},
	}, func(got string, c claim) bool {
		return strings.Split(got, ",")[0] == c.want && strings.Count(got, ",") <= strings.Count(strings.Join(c.sent, ""), ",")
	})
}

// TestStrangersSayNothingOfTheRequest: whatever a stranger claims about where
// the request came from or went to stays outside.
func TestStrangersSayNothingOfTheRequest(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), tierArgs...)
	v := newVisitor(t, p)
	v.page("/page")
	for tier, request := range tierRequests {
		lines := append(append([]string{}, request...), "Host: site.test", "Cookie: concert_admit="+v.cookie("concert_admit"),
			"X-Forwarded-Host: evil.example", "X-Forwarded-Port: 17", "X-Forwarded-Prefix: /evil", "X-Forwarded-Server: evil.example",
			"X-Real-IP: 198.51.100.1", "True-Client-IP: 198.51.100.1", "CF-Connecting-IP: 198.51.100.1", "X-Client-IP: 198.51.100.1",
			"X_Forwarded_For: 198.51.100.1", "Forwarded: for=198.51.100.1;host=evil.example")
		r := forwarded(t, o, p, stranger, lines)
		for _, line := range r.Fields {
			if strings.Contains(line, "evil") || strings.Contains(line, "198.51.100.1") || strings.HasSuffix(line, ": 17") {
				t.Errorf("%s: the origin got %q", tier, line)
			}
		}
	}
}

// TestProtocolHeaderOfStrangers: only a trusted peer may say that its client
// speaks HTTP/2, and so has the larger allowance.
func TestProtocolHeaderOfStrangers(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "5", "-assets", "/hold/*", "-client-proto-header", "X-Client-Proto",
		"-asset-user-cap-h1", "1", "-asset-user-wait", "0")
	v := newVisitor(t, p)
	v.page("/")
	ask := func(peer string) *rawtest.Client {
		c := rawtest.DialFrom(t, peer, p.Addr)
		c.Send(fmt.Sprintf("GET /hold/a.css HTTP/1.1\r\nHost: site.test\r\nX-Client-Proto: HTTP/2.0\r\nCookie: concert_admit=%s\r\n\r\n", v.cookie("concert_admit")))
		return c
	}
	before := len(o.Requests())
	ask(stranger)
	rawtest.Until(t, "the first is at the origin", func() bool { return len(o.Requests()) == before+1 })
	if r := ask(stranger).ReadResponse("GET"); r.Status() != "429" {
		t.Errorf("a stranger's second at once: status %s, want 429", r.Status())
	}
	ask(trusted)
	ask(trusted)
	rawtest.Until(t, "the trusted peer's are at the origin", func() bool { return len(o.Requests()) == before+3 })
	for _, r := range o.Requests() {
		if r.Has("X-Client-Proto") && r.Value("X-Forwarded-For") != trusted {
			t.Errorf("a stranger's claim reached the origin: %q", r.Fields)
		}
	}
}
