package upstream

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/pipeline"
)

// FuzzRequest puts what a stranger may send through everything between the
// server's parser and the wire. Whatever it is, the origin must get one
// well-formed request or none, with the target as it was, and nothing that
// tells a lie about where it came from.
func FuzzRequest(f *testing.F) {
	f.Add([]byte("GET //a%2Fb?x=1;y HTTP/1.1\r\nHost: x\r\nConnection: X-Forwarded-For\r\nX_Forwarded_For: 1.2.3.4\r\n\r\n"), false)
	f.Add([]byte("POST http://other/p HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTrailer: A\r\n\r\n2\r\nhi\r\n0\r\nA: 1\r\n\r\n"), true)
	f.Add([]byte("OPTIONS * HTTP/1.1\r\nHost: x\r\nCookie: room_ticket=1; a=\"b c\"\r\nTE: trailers, gzip\r\n\r\n"), false)
	f.Add([]byte("GET /\" HTTP/1.0\r\nHost: [::1%25a]:80\r\nUpgrade: websocket\r\nConnection: upgrade\r\nContent-Length: 3\r\n\r\nabc"), true)
	f.Add([]byte("GET /a HTTP/1.1\r\nX: y HTTP/1.1\r\nHost: x\r\n\r\n"), true)
	p := newFuzzed(f)
	f.Fuzz(func(t *testing.T, raw []byte, second bool) {
		r := readFuzzed(t, raw, second)
		target, err := p.admissible(r)
		if err != nil {
			return
		}
		sent, err := throughTheWire(p, r, target)
		if err != nil {
			return // a body that is none, or a field the round tripper refuses
		}
		want := target
		if strings.HasPrefix(target, "//") {
			path, query, found := strings.Cut(target, "?")
			if want = encodeOdd(path); found {
				want += "?" + query
			}
		}
		checkOne(t, r, want, sent)
	})
}

// newFuzzed is the proxy that strangers' requests are put through.
func newFuzzed(f *testing.F) *Proxy {
	f.Helper()
	p, err := New(Config{Upstream: &url.URL{Scheme: "http", Host: "origin.example"}, PreserveHost: true, ClientProtoHeader: "X-Proto"})
	if err != nil {
		f.Fatal(err)
	}
	return p
}

// readFuzzed is the request that bytes are to net/http's server, over HTTP/2 if
// second says so: that lets more bytes into a path than a request line holds.
func readFuzzed(t *testing.T, raw []byte, second bool) *http.Request {
	t.Helper()
	r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(raw)))
	if err != nil {
		t.Skip()
	}
	if second {
		r.ProtoMajor, r.ProtoMinor = 2, 0
		r.RequestURI = strings.ReplaceAll(r.RequestURI, "!", " ")
	}
	return r
}

// FuzzOwnRequest is the same for what our own client sends, which has the
// target as it was in any case.
func FuzzOwnRequest(f *testing.F) {
	f.Add([]byte("GET //a\"%2Fb?x=1;y HTTP/1.1\r\nHost: x\r\nConnection: X-Forwarded-For\r\nX_Forwarded_For: 1.2.3.4\r\n\r\n"), false)
	f.Add([]byte("POST http://other/p HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTrailer: A, B\r\n\r\n2\r\nhi\r\n0\r\nA: 1\r\n\r\n"), true)
	f.Add([]byte("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"), false)
	f.Add([]byte("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nX: a\rb\r\n\r\n"), false)
	p := newFuzzed(f)
	f.Fuzz(func(t *testing.T, raw []byte, second bool) {
		r := readFuzzed(t, raw, second)
		target, err := p.admissible(r)
		if err != nil {
			return
		}
		if sent, err := throughOurWire(p, r, target); err == nil {
			checkOne(t, r, target, sent)
		}
	})
}

// throughOurWire sends the request the way our own client does.
func throughOurWire(p *Proxy, r *http.Request, target string) ([]byte, error) {
	peer := netip.MustParseAddr("203.0.113.9")
	e := p.begin(&pipeline.Visit{W: &sink{header: http.Header{}}, R: r, Client: clientip.Client{Addr: peer, Peer: peer}})
	defer e.finish()
	e.arm()
	if err := e.head.write(e, target, upgradeWanted(r)); err != nil {
		return nil, err
	}
	wire := &recorder{}
	wire.Write(e.head.out)
	if r.ContentLength != 0 {
		l := newLink(wire)
		l.begin(e)
		e.expects = false // nobody answers
		u := startUpload(l)
		if <-u.done; u.err != nil {
			return nil, u.err
		}
	}
	return wire.sent, nil
}

// recorder is a connection that keeps what is written to it.
type recorder struct {
	net.Conn
	sent []byte
}

func (c *recorder) Write(p []byte) (int, error)     { c.sent = append(c.sent, p...); return len(p), nil }
func (c *recorder) Close() error                    { return nil }
func (c *recorder) SetReadDeadline(time.Time) error { return nil }
func (c *recorder) SetDeadline(time.Time) error     { return nil }

// throughTheWire writes the request the way net/http's transport does.
func throughTheWire(p *Proxy, r *http.Request, target string) ([]byte, error) {
	peer := netip.MustParseAddr("203.0.113.9")
	v := &pipeline.Visit{W: &sink{header: http.Header{}}, R: r, Client: clientip.Client{Addr: peer, Peer: peer}}
	e := p.begin(v)
	defer e.finish()
	var wire bytes.Buffer
	err := e.request(target, upgradeWanted(r)).Write(&wire)
	return wire.Bytes(), err
}

func checkOne(t *testing.T, r *http.Request, target string, sent []byte) {
	line, _, _ := strings.Cut(string(sent), "\r\n")
	want := r.Method + " " + target + " HTTP/1.1"
	if line != want {
		t.Fatalf("origin gets the line %q, want %q", line, want)
	}
	rest := bufio.NewReader(bytes.NewReader(sent))
	got, err := http.ReadRequest(rest)
	if err != nil {
		t.Fatalf("origin cannot read it: %v\n%q", err, sent)
	}
	if _, err := io.Copy(io.Discard, got.Body); err != nil {
		t.Fatalf("origin cannot read the body: %v\n%q", err, sent)
	}
	if n := rest.Buffered(); n > 0 {
		t.Fatalf("origin gets %d bytes more\n%q", n, sent)
	}
	if xff := got.Header["X-Forwarded-For"]; len(xff) != 1 || xff[0] != "203.0.113.9" {
		t.Fatalf("X-Forwarded-For is %q", xff)
	}
	for name := range got.Header {
		plain := strings.ToLower(strings.ReplaceAll(name, "_", "-"))
		if name != "X-Forwarded-For" && plain == "x-forwarded-for" || plain == "x-real-ip" || plain == "x-proto" || plain == "proxy" {
			t.Fatalf("%s reaches the origin", name)
		}
	}
}
