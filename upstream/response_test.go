package upstream

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/andreimerlescu/concert/internal/rawtest"
)

// fields returns the header lines except those net/http's server may add.
func fields(r rawtest.Response, but ...string) []string {
	var out []string
	for _, line := range r.Fields {
		name, _, _ := strings.Cut(line, ":")
		if name != "X-Edited" && !slices.Contains(but, name) {
			out = append(out, line)
		}
	}
	slices.Sort(out)
	return out
}

// TestResponseReachesVisitorAsSent holds invariant 7 on the way back.
func TestResponseReachesVisitorAsSent(t *testing.T) {
	const date = "Date: Tue, 15 Nov 1994 08:12:31 GMT\r\n"
	for _, tc := range []struct {
		name, method, response string
		want                   []string
		body                   string
	}{
		{"no type is guessed", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n" + date + "\r\n<html><b>",
			[]string{"Content-Length: 9"}, "<html><b>"},
		{"lines and order", "GET", "HTTP/1.1 302 Found\r\nLocation: http://shop.example/x\r\nSet-Cookie: b=2; Path=/\r\nSet-Cookie: a=\"1\"\r\nX-A: 1\r\nX-A: 2\r\nContent-Length: 0\r\n" + date + "\r\n",
			[]string{"Content-Length: 0", "Location: http://shop.example/x", "Set-Cookie: a=\"1\"", "Set-Cookie: b=2; Path=/", "X-A: 1", "X-A: 2"}, ""},
		{"hop by hop goes", "GET", "HTTP/1.1 200 OK\r\nConnection: X-Internal, keep-alive\r\nX-Internal: 1\r\nKeep-Alive: timeout=5\r\nUpgrade: h2c\r\nProxy-Authenticate: x\r\nContent-Length: 2\r\n" + date + "\r\nok",
			[]string{"Content-Length: 2"}, "ok"},
		{"head with a length", "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 1234\r\nContent-Type: text/x\r\n" + date + "\r\n",
			[]string{"Content-Length: 1234", "Content-Type: text/x"}, ""},
		{"head of chunks", "HEAD", "HTTP/1.1 404 Nope\r\nTransfer-Encoding: chunked\r\n" + date + "\r\n", nil, ""},
		{"no content", "GET", "HTTP/1.1 204 No Content\r\nX-A: 1\r\nContent-Type: text/x\r\n" + date + "\r\n",
			[]string{"Content-Type: text/x", "X-A: 1"}, ""},
		{"not modified", "GET", "HTTP/1.1 304 Not Modified\r\nEtag: \"x\"\r\nContent-Type: text/x\r\nContent-Length: 77\r\n" + date + "\r\n",
			[]string{"Etag: \"x\"", "content-length: 77", "content-type: text/x"}, ""},
		{"a range", "GET", "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 1-2/9\r\nAccept-Ranges: bytes\r\nContent-Length: 2\r\n" + date + "\r\nbc",
			[]string{"Accept-Ranges: bytes", "Content-Length: 2", "Content-Range: bytes 1-2/9"}, "bc"},
		{"gzip stays", "GET", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n" + date + "\r\n\x1f\x8b\x00",
			[]string{"Content-Encoding: gzip", "Content-Length: 3"}, "\x1f\x8b\x00"},
		{"chunks stay chunks", "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n" + date + "\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n",
			[]string{"Transfer-Encoding: chunked"}, "abc"},
		{"empty 404", "GET", "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n" + date + "\r\n", []string{"Content-Length: 0"}, ""},
		{"unusual status", "GET", "HTTP/1.1 799 Odd\r\nContent-Length: 0\r\n" + date + "\r\n", []string{"Content-Length: 0"}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			origin := rawtest.NewOrigin(t, rawtest.Reply(tc.response))
			s := newSite(t, origin.Addr())
			c := rawtest.Dial(t, s.addr)
			for range 2 { // the second shows that the first was framed right
				c.Send(tc.method + " / HTTP/1.1\r\nHost: x\r\n\r\n")
				got := c.ReadResponse(tc.method)
				if diff := cmp.Diff(append([]string{strings.TrimSpace(date)}, tc.want...), fields(got), sortLines); diff != "" {
					t.Errorf("invariant 7: header (-want +got):\n%s", diff)
				}
				if got.Status() != tc.response[9:12] || string(got.Body) != tc.body || got.Err != nil {
					t.Errorf("status %s, body %q, error %v", got.Status(), got.Body, got.Err)
				}
				if edits := got.Values("X-Edited"); len(edits) != 1 {
					t.Errorf("edited %d times", len(edits))
				}
			}
			if o := s.outcomes(2); !o[1].Latency || fmt.Sprint(o[1].Status) != tc.response[9:12] {
				t.Errorf("observed %+v", o[1])
			}
		})
	}
}

var sortLines = cmp.Transformer("sorted", func(in []string) []string {
	out := slices.Clone(in)
	slices.Sort(out)
	return out
})

func TestTrailers(t *testing.T) {
	origin := rawtest.NewOrigin(t, rawtest.Reply("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum, Grpc-Status\r\n\r\n"+
		"2\r\nhi\r\n0\r\nX-Sum: abc\r\nGrpc-Status: 0\r\nX-Late: 1\r\n\r\n"))
	t.Run("h1", func(t *testing.T) {
		got := newSite(t, origin.Addr()).ask("GET / HTTP/1.1\r\nHost: x\r\nTE: trailers\r\n\r\n")
		want := []string{"Grpc-Status: 0", "X-Late: 1", "X-Sum: abc"}
		if diff := cmp.Diff(want, got.Trailers, sortLines); diff != "" || got.Value("Trailer") != "Grpc-Status, X-Sum" {
			t.Errorf("Trailer %q; trailers (-want +got):\n%s", got.Value("Trailer"), diff)
		}
	})
	t.Run("h2", func(t *testing.T) {
		resp, body, err := newTLSSite(t, origin.Addr()).get("/")
		if err != nil {
			t.Fatal(err)
		}
		want := http.Header{"X-Sum": {"abc"}, "Grpc-Status": {"0"}, "X-Late": {"1"}}
		if diff := cmp.Diff(want, resp.Trailer); diff != "" || body != "hi" || resp.ProtoMajor != 2 {
			t.Errorf("%s body %q, trailers (-want +got):\n%s", resp.Proto, body, diff)
		}
	})
}

func TestInformationalAnswers(t *testing.T) {
	const hints = "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nConnection: X-Gone\r\nX-Gone: 1\r\n\r\n"
	origin := rawtest.NewOrigin(t, rawtest.Reply("HTTP/1.1 100 Continue\r\n\r\n"+hints+hints+okReply))
	s := newSite(t, origin.Addr())
	c := rawtest.Dial(t, s.addr)
	c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	for range 2 {
		got := c.ReadResponse("GET")
		if diff := cmp.Diff([]string{"Link: </a.css>; rel=preload"}, got.Fields); diff != "" || got.Status() != "103" {
			t.Errorf("%s, header (-want +got):\n%s", got.Line, diff)
		}
	}
	if got := c.ReadResponse("GET"); got.Status() != "200" || got.Has("Link") {
		t.Errorf("final answer %q %q", got.Line, got.Fields)
	}
	if got := s.ask("GET / HTTP/1.0\r\nHost: x\r\n\r\n"); got.Status() != "200" {
		t.Errorf("HTTP/1.0 got %q", got.Line)
	}
}
