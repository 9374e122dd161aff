package blackbox

import (
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/internal/rawtest"
)

// TestMalformedRequests: two hops that frame a request differently can be
// played against each other, so whatever has two readings goes no further.
func TestMalformedRequests(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "5")
	const post = "POST /p HTTP/1.1\r\nHost: site.test\r\n"
	tests := map[string]string{
		"stray CR in Transfer-Encoding": post + "Transfer-Encoding: \rchunked\r\n\r\n0\r\n\r\n",
		"space before the colon":        post + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
		"unknown coding":                post + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
		"two codings":                   post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
		"two lines of coding":           post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"two lengths":                   post + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
		"signed length":                 post + "Content-Length: +5\r\n\r\nhello",
		"two hosts":                     "GET / HTTP/1.1\r\nHost: a.test\r\nHost: b.test\r\n\r\n",
		"space in the host":             "GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
		"no host":                       "GET / HTTP/1.1\r\n\r\n",
		"no version":                    "GET /\r\n\r\n",
		"NUL in a header":               "GET / HTTP/1.1\r\nHost: site.test\r\nX: a\x00b\r\n\r\n",
		"header of 2 MiB":               "GET / HTTP/1.1\r\nHost: site.test\r\nX: " + strings.Repeat("a", 2<<20) + "\r\n\r\n",
	}
	for name, request := range tests {
		t.Run(name, func(t *testing.T) {
			c := rawtest.Dial(t, p.Addr)
			_ = c.TrySend(request) // the server may answer and close before it is through
			status := c.ReadResponse("GET").Status()
			if status[0] != '4' && status != "501" {
				t.Errorf("status %s, want a refusal", status)
			}
			c.Ended()
		})
	}
	if n := len(o.Requests()); n != 0 {
		t.Errorf("reached the origin: %q", o.lines())
	}
	if got := stats(t, p).Occupancy; got != 0 {
		t.Errorf("%d slots are still held", got)
	}
}

// TestBodyThatHTTP10CannotHave: HTTP/1.0 has no Transfer-Encoding, so what looks
// like a chunked body to the sender must not be read as the next request.
func TestBodyThatHTTP10CannotHave(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "5")
	c := rawtest.Dial(t, p.Addr)
	c.Send("POST /t HTTP/1.0\r\nHost: site.test\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n" +
		"GET /smuggled HTTP/1.1\r\nHost: site.test\r\n\r\n")
	c.ReadResponse("POST")
	c.Ended()
	if n := countLines(o, "GET /smuggled HTTP/1.1"); n != 0 {
		t.Error("the body became a request of its own")
	}
}

// TestBareLineFeedsInChunks: a lone LF must not end a chunk's line.
func TestBareLineFeedsInChunks(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "1", quick)
	for _, body := range []string{"5;a\nX\r\nhello\r\n0\r\n\r\n", "5\nhello\r\n0\r\n\r\n"} {
		c := rawtest.Dial(t, p.Addr)
		c.Send("POST /p HTTP/1.1\r\nHost: site.test\r\nAccept: text/html\r\nTransfer-Encoding: chunked\r\n\r\n" + body)
		if status := c.ReadResponse("POST").Status(); status[0] == '2' {
			t.Errorf("body %q: status %s", body, status)
		}
		c.Close()
		rawtest.Until(t, "the slot is free", func() bool { return stats(t, p).Occupancy == 0 })
	}
	for _, r := range o.Requests() {
		if strings.HasSuffix(string(r.RawBody), "0\r\n\r\n") {
			t.Errorf("the origin got a complete request: %q", r.RawBody)
		}
	}
	if a := newVisitor(t, p).page("/"); !a.isOrigin() {
		t.Errorf("the next page: status %d", a.status)
	}
}

// TestHostless: old clients send no host; an empty one is nobody's name.
func TestHostless(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "5")
	for _, request := range []string{"GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.1\r\nHost:\r\n\r\n"} {
		c := rawtest.Dial(t, p.Addr)
		c.Send(request)
		if status := c.ReadHead().Line; strings.Contains(status, " 5") {
			t.Errorf("%q: %s", request, status)
		}
	}
	for _, r := range o.Requests() {
		if host := r.Value("Host"); host != "" {
			t.Errorf("the origin was told host %q, which nobody sent", host)
		}
	}
}

// TestRefusedBeforeTheBody: whoever asks before sending a body is answered
// without having to send it.
func TestRefusedBeforeTheBody(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "1", quick, "-assets", "/css/*")
	expect := "POST %s HTTP/1.1\r\nHost: site.test\r\nAccept: text/html\r\nContent-Length: %s\r\nExpect: 100-continue\r\n\r\n"
	send := func(path, length string) *rawtest.Client {
		c := rawtest.Dial(t, p.Addr)
		c.Send(strings.NewReplacer("%s HTTP", path+" HTTP", "%s\r\nExpect", length+"\r\nExpect").Replace(expect))
		return c
	}
	c := send("/upload", "2") // admitted
	if head := c.ReadHead(); head.Line != "HTTP/1.1 100 Continue" {
		t.Fatalf("admitted: first answer %q", head.Line)
	}
	c.Send("ok")
	if head := c.ReadHead(); head.Line != "HTTP/1.1 200 OK" {
		t.Errorf("admitted: final answer %q", head.Line)
	}
	o.fill(t, p, 1)
	for path, want := range map[string]string{"/upload": "503", "/css/a.css": "403"} {
		if r := send(path, "1000").ReadResponse("POST"); r.Status() != want {
			t.Errorf("%s: status %s, want %s", path, r.Status(), want)
		}
	}
}

// TestRefusedUploadIsReadable: a client that is still sending must be able to
// read why it was refused.
func TestRefusedUploadIsReadable(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "1", quick, "-assets", "/css/*")
	o.fill(t, p, 1)
	for path, want := range map[string]string{"/upload": "503", "/css/a.css": "403"} {
		for _, size := range []int{2 << 20, 20 << 20} {
			c := rawtest.Dial(t, p.Addr)
			head := "POST " + path + " HTTP/1.1\r\nHost: site.test\r\nAccept: text/html\r\nContent-Length: "
			sent := make(chan error, 1)
			go func() { sent <- c.TrySend(head + itoa(size) + "\r\n\r\n" + strings.Repeat("x", size)) }()
			if r := c.ReadResponse("POST"); r.Status() != want {
				t.Errorf("%s, %d bytes: status %s, want %s", path, size, r.Status(), want)
			}
			c.Close()
			<-sent
		}
	}
}

// TestNoOpenProxy: Concert talks to its upstream and nobody else.
func TestNoOpenProxy(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "5")
	r := raw(t, p, "127.0.0.1", "CONNECT "+o.Addr()+" HTTP/1.1", "Host: "+o.Addr())
	if s := r.Status(); s[0] != '4' && s != "501" {
		t.Errorf("CONNECT: status %s, want a refusal", s)
	}
	if n := len(o.Requests()); n != 0 {
		t.Errorf("CONNECT reached the origin: %q", o.lines())
	}
	for _, path := range []string{"/p", "/favicon.ico"} {
		r := raw(t, p, "127.0.0.1", "GET http://other.invalid"+path+" HTTP/1.1", "Host: site.test")
		if s := r.Status(); s != "200" && s != "400" && s != "421" {
			t.Errorf("%s: status %s", path, s)
		}
	}
	for _, line := range o.lines() {
		if strings.Contains(line, "other.invalid") {
			t.Errorf("the origin got %q", line)
		}
	}
}

// TestEmptyBodiesStayEmpty: nothing is turned into a chunked request.
func TestEmptyBodiesStayEmpty(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "5")
	for request, length := range map[string]string{
		"POST /p HTTP/1.1\r\nHost: site.test\r\nContent-Length: 0\r\n\r\n":      "0",
		"DELETE /p HTTP/1.1\r\nHost: site.test\r\n\r\n":                         "",
		"GET /p HTTP/1.1\r\nHost: site.test\r\n\r\n":                            "",
		"POST /p HTTP/1.1\r\nHost: site.test\r\nContent-Length: 5\r\n\r\nhello": "5",
	} {
		c := rawtest.Dial(t, p.Addr)
		c.Send(request)
		c.ReadResponse("POST")
		rs := o.Requests()
		r := rs[len(rs)-1]
		if r.Has("Transfer-Encoding") || r.Value("Content-Length") != length {
			t.Errorf("%q: the origin got %q", request, r.Fields)
		}
	}
}
