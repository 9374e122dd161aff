package upstream

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/andreimerlescu/concert/internal/rawtest"
)

// newH2COrigin runs an origin that speaks HTTP/2 without TLS, and HTTP/1.1 to
// whoever asks in that.
func newH2COrigin(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	origin := httptest.NewUnstartedServer(h)
	origin.Config.Protocols = new(http.Protocols)
	origin.Config.Protocols.SetHTTP1(true)
	origin.Config.Protocols.SetUnencryptedHTTP2(true)
	origin.Start()
	t.Cleanup(origin.Close)
	return "h2c" + strings.TrimPrefix(origin.URL, "http")
}

func TestH2CRequestsArriveAsSent(t *testing.T) {
	s := newSite(t, newH2COrigin(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s\nhost %s\nlength %d\nbody %q %v\n", r.Proto, r.Method, r.RequestURI, r.Host, r.ContentLength, body, err)
		fmt.Fprintf(w, "for %q agent %q connection %q x %q te %q sum %q\n", r.Header["X-Forwarded-For"], r.Header["User-Agent"],
			r.Header["Connection"], r.Header["X-Kept"], r.Header["Te"], r.Trailer["X-Sum"])
	}))
	const own = "for [\"203.0.113.9, 127.0.0.1\"] agent [] connection [] x [\"a\" \"b\"] te "
	const fields = "Host: shop.example:8443\r\nX-Forwarded-For: 203.0.113.9\r\nConnection: X-Gone\r\nX-Gone: 1\r\nX-Kept: a\r\nX-Kept: b\r\n"
	for _, tc := range []struct{ request, want string }{
		{"GET /a//b%2Fc;d?x=1&y=%20 HTTP/1.1\r\n" + fields + "\r\n",
			"HTTP/2.0 GET /a//b%2Fc;d?x=1&y=%20\nhost shop.example:8443\nlength 0\nbody \"\" <nil>\n" + own + "[] sum []\n"},
		{"POST /form HTTP/1.1\r\n" + fields + "Content-Length: 5\r\n\r\nhello",
			"HTTP/2.0 POST /form\nhost shop.example:8443\nlength 5\nbody \"hello\" <nil>\n" + own + "[] sum []\n"},
		{"PUT /up HTTP/1.1\r\n" + fields + "TE: trailers\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: abc\r\n\r\n",
			"HTTP/2.0 PUT /up\nhost shop.example:8443\nlength -1\nbody \"hello\" <nil>\n" + own + "[\"trailers\"] sum [\"abc\"]\n"},
		{"DELETE /x HTTP/1.1\r\n" + fields + "\r\n",
			"HTTP/2.0 DELETE /x\nhost shop.example:8443\nlength 0\nbody \"\" <nil>\n" + own + "[] sum []\n"},
	} {
		if got := s.ask(tc.request); got.Status() != "200" || string(got.Body) != tc.want {
			t.Errorf("%q: %s (-want +got)\n%s", tc.request, got.Line, cmp.Diff(tc.want, string(got.Body)))
		}
	}
}

func TestH2CAnswersArriveAsSent(t *testing.T) {
	const date = "Tue, 15 Nov 1994 08:12:31 GMT"
	s := newSite(t, newH2COrigin(t, func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h["Date"], h["Content-Type"] = []string{date}, nil // nothing is added for us
		switch r.URL.Path {
		case "/cookies":
			h["Set-Cookie"] = []string{"b=2; Path=/", `a="1"`}
			h.Set("Location", "http://shop.example/x")
			w.WriteHeader(http.StatusFound)
		case "/hints":
			h.Set("Link", "</a.css>; rel=preload")
			w.WriteHeader(http.StatusEarlyHints)
			h.Del("Link")
			_, _ = io.WriteString(w, "ok")
		case "/trailers":
			h.Set("Trailer", "X-Sum")
			_, _ = io.WriteString(w, "hi")
			h.Set("X-Sum", "abc")
			h.Set(http.TrailerPrefix+"X-Late", "1")
		case "/cut":
			_, _ = io.WriteString(w, "part")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		case "/304":
			h.Set("Etag", `"x"`)
			w.WriteHeader(http.StatusNotModified)
		case "/large":
			_, _ = w.Write(make([]byte, 3<<20))
		}
	}))
	ask := func(path string) rawtest.Response {
		t.Helper()
		return s.ask("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n")
	}
	found := []string{"Date: " + date, "Location: http://shop.example/x", `Set-Cookie: a="1"`, "Set-Cookie: b=2; Path=/"}
	if got := ask("/cookies"); got.Status() != "302" || !cmp.Equal(fields(got, "Content-Length"), found) {
		t.Errorf("cookies: %s, %q", got.Line, fields(got))
	}
	c := rawtest.Dial(t, s.addr)
	c.Send("GET /hints HTTP/1.1\r\nHost: x\r\n\r\n")
	if got := c.ReadResponse("GET"); got.Status() != "103" || got.Value("Link") != "</a.css>; rel=preload" {
		t.Errorf("hints: %s, %q", got.Line, got.Fields)
	}
	if got := c.ReadResponse("GET"); got.Status() != "200" || string(got.Body) != "ok" || got.Has("Link") || got.Has("Content-Type") {
		t.Errorf("after hints: %s, %q, body %q", got.Line, got.Fields, got.Body)
	}
	if got := ask("/trailers"); string(got.Body) != "hi" || !cmp.Equal(got.Trailers, []string{"X-Late: 1", "X-Sum: abc"}, sortLines) {
		t.Errorf("trailers %q, body %q", got.Trailers, got.Body)
	}
	if got := ask("/cut"); got.Err == nil {
		t.Errorf("a truncated answer looks whole: %q", got.Body)
	}
	if got := ask("/304"); got.Status() != "304" || got.Value("Etag") != `"x"` || len(got.Body) > 0 {
		t.Errorf("304: %s, %q", got.Line, got.Fields)
	}
	if got := ask("/large"); len(got.Body) != 3<<20 || got.Err != nil {
		t.Errorf("large: %d bytes, %v", len(got.Body), got.Err)
	}
}

// echoFour serves a WebSocket that sends back the first four bytes, and answers
// other requests with the protocol that they came by.
func echoFour(t *testing.T) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") == "" {
			_, _ = io.WriteString(w, r.Proto)
			return
		}
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = conn.Close() }()
		_, _ = io.WriteString(conn, switching)
		_, _ = io.CopyN(conn, rw, 4)
	}
}

// A WebSocket goes by HTTP/1.1, the only way most origins take one.
func TestWebSocketToH2COrigin(t *testing.T) {
	s := newSite(t, newH2COrigin(t, echoFour(t)))
	c := s.open()
	c.Send("ping")
	if got, err := c.ReadAll(); got != "ping" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if got := s.ask("GET / HTTP/1.1\r\nHost: x\r\n\r\n"); string(got.Body) != "HTTP/2.0" {
		t.Errorf("an ordinary request went by %q", got.Body)
	}
}

// An origin that does not speak HTTP/2 is a 502, not a hang.
func TestH2COriginThatIsNone(t *testing.T) {
	origin := rawtest.NewOrigin(t, rawtest.Reply("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))
	s := newSite(t, "h2c://"+origin.Addr())
	if got := s.ask("GET / HTTP/1.1\r\nHost: x\r\n\r\n"); got.Status() != "502" {
		t.Errorf("%s, want 502", got.Line)
	}
}
