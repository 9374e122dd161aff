package blackbox

import (
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/internal/rawtest"
)

// TestTruncatedAnswersLookTruncated: a client must be able to tell that a page
// is not whole, or caches keep half of it.
func TestTruncatedAnswersLookTruncated(t *testing.T) {
	o := rawtest.NewOrigin(t, func(x *rawtest.Exchange) {
		x.ReadBody()
		if strings.Contains(x.Request.Line, "/chunked") {
			x.Write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
		} else {
			x.Write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
		}
		x.Close()
	})
	p := start(t, o.Addr(), "-cap", "1", quick)
	for _, path := range []string{"/chunked", "/counted", "/chunked"} {
		c := rawtest.Dial(t, p.Addr)
		c.Send("GET " + path + " HTTP/1.1\r\nHost: site.test\r\n\r\n")
		if r := c.ReadResponse("GET"); r.Err == nil || string(r.Body) != "hello" {
			t.Errorf("%s: body %q and error %v; want half a body and an error", path, r.Body, r.Err)
		}
		c.Close()
	}
	rawtest.Until(t, "the slots are free", func() bool { return stats(t, p).Occupancy == 0 })
}

// TestBodilessAnswers: the header says what the body would be, and the next
// request on the connection is understood.
func TestBodilessAnswers(t *testing.T) {
	o := answering(t, map[string]string{
		"/counted": "HTTP/1.1 200 OK\r\nContent-Length: 1234\r\nETag: \"v\"\r\n\r\n",
		"/chunked": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
		"/same":    "HTTP/1.1 304 Not Modified\r\nETag: \"v\"\r\n\r\n",
		"/empty":   "HTTP/1.1 204 No Content\r\nX-A: b\r\n\r\n",
	})
	p := start(t, o.Addr(), "-cap", "1", quick, "-ban-paths", "/.env")
	c := rawtest.Dial(t, p.Addr)
	for _, tt := range []struct{ method, path, status, name, value string }{
		{"HEAD", "/counted", "200", "Content-Length", "1234"},
		{"HEAD", "/chunked", "200", "Content-Length", ""},
		{"GET", "/same", "304", "ETag", `"v"`},
		{"GET", "/empty", "204", "X-A", "b"},
		{"HEAD", "/same", "304", "ETag", `"v"`},
		{"GET", "/end", "200", "Content-Type", "text/html"},
	} {
		c.Send(tt.method + " " + tt.path + " HTTP/1.1\r\nHost: site.test\r\nIf-None-Match: \"v\"\r\n\r\n")
		if r := c.ReadResponse(tt.method); r.Status() != tt.status || r.Value(tt.name) != tt.value {
			t.Errorf("%s %s: status %s, header %q", tt.method, tt.path, r.Status(), r.Fields)
		}
	}
	head := func(address string) {
		c := rawtest.Dial(t, p.Addr)
		for range 2 {
			c.Send("HEAD / HTTP/1.1\r\nHost: site.test\r\nAccept: text/html\r\n" + asClient(address) + "\r\n\r\n")
			if r := c.ReadResponse("HEAD"); r.Status() != "503" && r.Status() != "429" {
				t.Errorf("as %s: status %s", address, r.Status())
			}
		}
	}
	get(t, p, "203.0.113.9", "/.env")
	head("203.0.113.9")
	full := newOrigin(t)
	p = start(t, full.Addr(), "-cap", "1", quick)
	full.fill(t, p, 1)
	head("203.0.113.10")
}

// TestRanges: without them no video can seek.
func TestRanges(t *testing.T) {
	part := "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 100-104/1000\r\nAccept-Ranges: bytes\r\nCache-Control: public, max-age=31536000\r\nContent-Length: 5\r\n\r\nhello"
	o := answering(t, map[string]string{"/css/part": part, "/css/beyond": "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Range: bytes */1000\r\nContent-Length: 0\r\n\r\n"})
	p := start(t, o.Addr(), "-cap", "5", "-assets", "/css/*")
	v := newVisitor(t, p)
	v.page("/")
	pass := "Cookie: concert_admit=" + v.cookie("concert_admit")
	r := raw(t, p, trusted, "GET /css/part HTTP/1.1", "Host: site.test", pass, "Range: bytes=100-104", `If-Range: "x"`)
	if r.Status() != "206" || string(r.Body) != "hello" || r.Value("Content-Range") != "bytes 100-104/1000" || r.Value("Accept-Ranges") != "bytes" ||
		r.Has("Set-Cookie") || r.Value("Cache-Control") != "public, max-age=31536000" {
		t.Errorf("status %s, header %q, body %q", r.Status(), r.Fields, r.Body)
	}
	rs := o.Requests()
	if last := rs[len(rs)-1]; last.Value("Range") != "bytes=100-104" || last.Value("If-Range") != `"x"` {
		t.Errorf("the origin got %q", last.Fields)
	}
	if r = raw(t, p, trusted, "GET /css/beyond HTTP/1.1", "Host: site.test", pass, "Range: bytes=9999-"); r.Status() != "416" || r.Value("Content-Range") != "bytes */1000" {
		t.Errorf("status %s, header %q", r.Status(), r.Fields)
	}
}
