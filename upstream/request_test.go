package upstream

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/andreimerlescu/concert/internal/rawtest"
)

const okReply = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

// TestTargetReachesOriginAsSent is the second half of invariant 6.
func TestTargetReachesOriginAsSent(t *testing.T) {
	origin := rawtest.NewOrigin(t, rawtest.Reply(okReply))
	for _, upstream := range []struct{ path, prefix string }{{"", ""}, {"/", ""}, {"/app%2Fx/", "/app%2Fx"}} {
		s := newSite(t, origin.Addr()+upstream.path)
		for _, tc := range []struct{ sent, want string }{
			{"/", "/"},
			{"/?", "/?"},
			{"//", "//"},
			{"//a//b/", "//a//b/"},
			{"//a%2Fb?x=//c", "//a%2Fb?x=//c"},
			{"/a//b?x=1", "/a//b?x=1"},
			{"/api/%2F/amq.direct", "/api/%2F/amq.direct"},
			{"/r/https%3A%2F%2Fexample.com", "/r/https%3A%2F%2Fexample.com"},
			{"/a/../b/./c", "/a/../b/./c"},
			{"/favicon.ico;x=1", "/favicon.ico;x=1"},
			{`/odd"<>\^{|}` + "`", `/odd"<>\^{|}` + "`"},
			{"/caf\xe9/\xff", "/caf\xe9/\xff"},
			{"/?a=1;b=2&c=%zz&d=ok", "/?a=1;b=2&c=%zz&d=ok"},
			{"/#frag?x", "/#frag?x"},
			{"http://other.example/p?q", "/p?q"},
			{"http://other.example", "/"},
			{"http://other.example?q=/", "/?q=/"},
			{"HTTP://other.example//p", "//p"},
		} {
			before := len(origin.Requests())
			if got := s.ask("GET " + tc.sent + " HTTP/1.1\r\nHost: x\r\n\r\n"); got.Status() != "200" {
				t.Errorf("%q: status %s", tc.sent, got.Status())
				continue
			}
			want := "GET " + upstream.prefix + tc.want + " HTTP/1.1"
			if got := origin.Requests()[before].Line; got != want {
				t.Errorf("invariant 6: %q below %q: origin got %q, want %q", tc.sent, upstream.path, got, want)
			}
		}
	}
}

// TestOddBytesBehindTwoSlashes: only net/http's transport, which serves https
// origins, must have them encoded.
func TestOddBytesBehindTwoSlashes(t *testing.T) {
	origin := rawtest.NewOrigin(t, rawtest.Reply(okReply))
	s := newSite(t, origin.Addr())
	for _, tc := range []struct {
		plain *client
		want  string
	}{
		{s.proxy.plain, `GET //a%2Fb"\` + "\xe9" + `?"q HTTP/1.1`},
		{nil, `GET //a%2Fb%22%5C%E9?"q HTTP/1.1`},
	} {
		if s.proxy.plain = tc.plain; tc.plain == nil && strings.Contains(tc.want, `"\`) {
			continue // there is no client of our own here
		}
		before := len(origin.Requests())
		s.ask(`GET //a%2Fb"\` + "\xe9" + `?"q HTTP/1.1` + "\r\nHost: x\r\n\r\n")
		if got := origin.Requests()[before].Line; got != tc.want {
			t.Errorf("origin got %q, want %q", got, tc.want)
		}
	}
}

func TestUnusableRequestsAreRefused(t *testing.T) {
	origin := rawtest.NewOrigin(t, rawtest.Reply(okReply))
	s := newSite(t, origin.Addr())
	for request, want := range map[string]string{
		"CONNECT internal:22 HTTP/1.1\r\nHost: internal:22\r\n\r\n": "405",
		"CONNECT /x HTTP/1.1\r\nHost: x\r\n\r\n":                    "405",
		"GET mailto:x HTTP/1.1\r\nHost: x\r\n\r\n":                  "400",
		"GET * HTTP/1.1\r\nHost: x\r\n\r\n":                         "400",
		"GET / HTTP/1.1\r\nHost:\r\n\r\n":                           "400",
		"GET / HTTP/1.0\r\n\r\n":                                    "400",
		"GET / HTTP/1.1\r\nHost: a b\r\n\r\n":                       "400",
	} {
		if got := s.ask(request); got.Status() != want {
			t.Errorf("%q: status %s, want %s", request, got.Status(), want)
		}
	}
	if got := origin.Requests(); len(got) > 0 {
		t.Errorf("origin got %q", got[0].Line)
	}
}

// TestRequestHeader holds invariant 7 on the way to the origin.
func TestRequestHeader(t *testing.T) {
	origin := rawtest.NewOrigin(t, rawtest.Reply(okReply))
	s := newSite(t, origin.Addr(), func(c *Config) { c.ClientProtoHeader = "x-client-proto" })
	for _, tc := range []struct {
		name, from string
		sent, want []string
	}{
		{"nothing is invented", "127.0.0.1", nil, nil},
		{"values stay", "127.0.0.1",
			[]string{"User-Agent: a \"b\" (c)", "Accept-Encoding: br;q=1, *", "X-Odd: caf\xe9\t;,=", "X-Two: 1", "X-Two: 2,3", "Range: bytes=1-2", "If-Range: \"x\"", "X-Empty: "},
			[]string{"User-Agent: a \"b\" (c)", "Accept-Encoding: br;q=1, *", "X-Odd: caf\xe9\t;,=", "X-Two: 1", "X-Two: 2,3", "Range: bytes=1-2", "If-Range: \"x\"", "X-Empty: "}},
		{"hop by hop goes", "127.0.0.1",
			[]string{"Connection: X-Secret, keep-alive", "X-Secret: 1", "Keep-Alive: 5", "Proxy-Authorization: x", "Proxy-Connection: keep-alive", "Proxy: http://evil.example", "Te: gzip", "Upgrade: h2c", "HTTP2-Settings: x", "X-Open: 1"},
			[]string{"X-Open: 1"}},
		{"an empty first Connection line", "127.0.0.1",
			[]string{"Connection:", "Connection: X-Forwarded-For, x-gone", "X-Gone: 1", "X-Forwarded-For: 203.0.113.9"},
			[]string{"X-Forwarded-For: 203.0.113.9, 127.0.0.1"}},
		{"te trailers stays", "127.0.0.1", []string{"TE: gzip;q=0.5, Trailers", "Connection: TE"}, []string{"Te: trailers"}},
		{"Concert's own", "127.0.0.1",
			[]string{"Concert-Debug: token", "Cookie: a=1; room_ticket=t; prefs={\"k\":1}; concert_admit=x; caf=\xe9; concert_portal_instance=b; sp=a b; flag"},
			[]string{"Cookie: a=1; prefs={\"k\":1}; caf=\xe9; sp=a b; flag"}},
		{"a stranger's claims", "127.0.0.2",
			[]string{"X-Forwarded-For: 203.0.113.9", "X_Forwarded_For: 203.0.113.9", "X-Forwarded-Host: evil.example", "X-Forwarded-Proto: https", "X-Real-Ip: 203.0.113.9", "Forwarded: for=203.0.113.9", "X-Client-Proto: HTTP/2", "X_client-Proto: HTTP/2"},
			nil},
		{"a trusted peer's", "127.0.0.1",
			[]string{"X-Forwarded-For: 198.51.100.1, 203.0.113.9", "X-Forwarded-Host: evil.example", "X-Forwarded-Proto: https", "Forwarded: for=203.0.113.9", "X-Client-Proto: HTTP/2", "Connection: X-Client-Proto, X-Forwarded-Proto"},
			[]string{"X-Forwarded-For: 198.51.100.1, 203.0.113.9, 127.0.0.1", "X-Forwarded-Proto: https", "X-Client-Proto: HTTP/2"}},
		{"an idempotency key", "127.0.0.1", []string{"Idempotency-Key: k"}, []string{"Idempotency-Key: k"}},
	} {
		before := len(origin.Requests())
		c := rawtest.DialFrom(t, tc.from, s.addr)
		c.Send("GET / HTTP/1.1\r\nHost: shop.example:8443\r\n" + strings.Join(append(tc.sent, "\r\n"), "\r\n"))
		c.ReadResponse("GET")
		want := []string{"Host: shop.example:8443", "X-Forwarded-Host: shop.example:8443"}
		if !slices.ContainsFunc(tc.want, func(l string) bool { return strings.HasPrefix(l, "X-Forwarded-For:") }) {
			want = append(want, "X-Forwarded-For: "+tc.from)
		}
		if !slices.ContainsFunc(tc.want, func(l string) bool { return strings.HasPrefix(l, "X-Forwarded-Proto:") }) {
			want = append(want, "X-Forwarded-Proto: http")
		}
		want = append(want, tc.want...)
		got := slices.Clone(origin.Requests()[before].Fields)
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("invariant 7: %s (-want +got):\n%s", tc.name, diff)
		}
	}
}

func TestHostByConfiguration(t *testing.T) {
	origin := rawtest.NewOrigin(t, rawtest.Reply(okReply))
	s := newSite(t, origin.Addr(), func(c *Config) { c.PreserveHost = false })
	s.ask("GET / HTTP/1.1\r\nHost: shop.example\r\n\r\n")
	got := origin.Requests()[0]
	if got.Value("Host") != origin.Addr() || got.Value("X-Forwarded-Host") != "shop.example" {
		t.Errorf("Host %q, X-Forwarded-Host %q", got.Value("Host"), got.Value("X-Forwarded-Host"))
	}
}

func TestLengthsAsSent(t *testing.T) {
	origin := rawtest.NewOrigin(t, rawtest.Reply(okReply))
	s := newSite(t, origin.Addr())
	for _, tc := range []struct {
		sent       string // method, then header lines and body
		length, te string // what the origin must see
		body       string
	}{
		{"GET\r\n", "", "", ""},
		{"GET\nContent-Length: 5\r\nhello", "5", "", "hello"},
		{"POST\nContent-Length: 0\r\n", "0", "", ""},
		{"POST\nContent-Length: 5\r\nhello", "5", "", "hello"},
		{"DELETE\r\n", "", "", ""},
		{"DELETE\nContent-Length: 0\r\n", "0", "", ""},
		{"POST\nTransfer-Encoding: chunked\r\n5;ext=1\r\nhello\r\n0\r\n\r\n", "", "chunked", "hello"},
		{"GET\nTransfer-Encoding: chunked\r\n0\r\n\r\n", "", "chunked", ""},
		{"POST\nContent-Length: 5\nExpect: 100-continue\r\nhello", "5", "", "hello"},
	} {
		before := len(origin.Requests())
		head, body, _ := strings.Cut(tc.sent, "\r\n")
		method, fields, _ := strings.Cut(head, "\n")
		if fields != "" {
			fields = strings.ReplaceAll(fields, "\n", "\r\n") + "\r\n"
		}
		c := rawtest.Dial(t, s.addr)
		c.Send(method + " / HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n" + body)
		resp := c.ReadResponse(method)
		if resp.Status() == "100" {
			resp = c.ReadResponse(method)
		}
		got := origin.Requests()[before]
		if resp.Status() != "200" || got.Value("Content-Length") != tc.length || got.Value("Transfer-Encoding") != tc.te || string(got.Body) != tc.body {
			t.Errorf("%q: status %s; origin got length %q, encoding %q, body %q", tc.sent, resp.Status(), got.Value("Content-Length"), got.Value("Transfer-Encoding"), got.Body)
		}
	}
}

func TestRequestTrailers(t *testing.T) {
	origin := rawtest.NewOrigin(t, rawtest.Reply(okReply))
	s := newSite(t, origin.Addr())
	s.ask("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum, X-Forwarded-For, Cookie\r\n\r\n" +
		"2\r\nhi\r\n0\r\nX-Sum: abc\r\nX-Forwarded-For: 203.0.113.9\r\nCookie: room_ticket=1\r\nX-Late: 1\r\n\r\n")
	if diff := cmp.Diff([]string{"X-Sum: abc"}, origin.Requests()[0].Trailers); diff != "" {
		t.Errorf("trailers (-want +got):\n%s", diff)
	}
}
