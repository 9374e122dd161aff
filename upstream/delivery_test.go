package upstream

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/internal/rawtest"
	"github.com/andreimerlescu/concert/pipeline"
)

// TestTruncationIsSeen holds for every framing and both protocols: what the
// origin did not finish must not look finished.
func TestTruncationIsSeen(t *testing.T) {
	for name, response := range map[string]string{
		"length":         "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart",
		"chunked":        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n",
		"inside a chunk": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\npart",
		"broken chunk":   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\nzz\r\n",
	} {
		origin := rawtest.NewOrigin(t, func(x *rawtest.Exchange) { x.Write(response); x.Close() })
		t.Run(name+"/h1", func(t *testing.T) {
			s := newSite(t, origin.Addr())
			got := s.ask("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			if got.Err == nil {
				t.Errorf("visitor got a whole answer: %q", got.RawBody)
			}
			if o := s.outcomes(1)[0]; o.Reason != pipeline.OriginDown || o.Status != 200 {
				t.Errorf("observed %+v", o)
			}
		})
		t.Run(name+"/h2", func(t *testing.T) {
			if resp, body, err := newTLSSite(t, origin.Addr()).get("/"); err == nil {
				t.Errorf("visitor got a whole answer: %v %q", resp.Status, body)
			}
		})
	}
}

func TestTruncatedHTTP2OriginIsSeen(t *testing.T) {
	origin := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Proto)
		if r.URL.Path == "/cut" {
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
	}))
	origin.EnableHTTP2 = true
	origin.StartTLS()
	defer origin.Close()
	s := newSite(t, origin.URL, func(c *Config) {
		c.TLS = origin.Client().Transport.(*http.Transport).TLSClientConfig
	})
	if got := s.ask("GET /whole HTTP/1.1\r\nHost: example.com\r\n\r\n"); string(got.Body) != "HTTP/2.0" || got.Err != nil {
		t.Errorf("body %q, error %v", got.Body, got.Err)
	}
	if got := s.ask("GET /cut HTTP/1.1\r\nHost: example.com\r\n\r\n"); !errors.Is(got.Err, io.ErrUnexpectedEOF) {
		t.Errorf("body %q, error %v; want it cut", got.RawBody, got.Err)
	}
}

// TestPiecesAreNotHeld: what the origin has sent reaches the visitor before
// the origin sends more.
func TestPiecesAreNotHeld(t *testing.T) {
	for name, head := range map[string]string{
		"chunked": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/event-stream; charset=utf-8\r\n\r\n",
		"length":  "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n",
		"to EOF":  "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n",
	} {
		for _, build := range []func(testing.TB, string, ...func(*Config)) *site{newSite, newTLSSite} {
			next := make(chan struct{}, 3)
			origin := rawtest.NewOrigin(t, func(x *rawtest.Exchange) {
				x.Write(head)
				for _, piece := range []string{"ab", "cd", "ef"} {
					<-next
					if name == "chunked" {
						piece = "2\r\n" + piece + "\r\n"
					}
					x.Write(piece)
				}
				if name == "chunked" {
					x.Write("0\r\n\r\n")
				}
				x.Close()
			})
			s := build(t, origin.Addr())
			if name == "length" {
				next <- struct{}{} // its header may wait for the first piece
			}
			resp, err := s.client().Get(s.server.URL + "/")
			if err != nil {
				t.Fatal(name, err)
			}
			var got strings.Builder
			for i := range 3 {
				if name != "length" || i > 0 {
					next <- struct{}{}
				}
				var piece [2]byte
				if _, err := io.ReadFull(resp.Body, piece[:]); err != nil {
					t.Fatal(name, err)
				}
				got.WriteString(string(piece[:]))
			}
			if rest, err := io.ReadAll(resp.Body); got.String() != "abcdef" || len(rest) > 0 || err != nil {
				t.Errorf("%s: got %q, then %q and %v", name, got.String(), rest, err)
			}
			_ = resp.Body.Close()
		}
	}
}

func TestLargeBodiesPassWhole(t *testing.T) {
	body := strings.Repeat("0123456789abcdef", 1<<16)
	origin := rawtest.NewOrigin(t, func(x *rawtest.Exchange) {
		got, err := x.ReadBody()
		if err != nil || string(got) != body {
			x.Write("HTTP/1.1 500 Wrong\r\nContent-Length: 0\r\n\r\n")
			return
		}
		x.Write(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body))
	})
	for _, build := range []func(testing.TB, string, ...func(*Config)) *site{newSite, newTLSSite} {
		s := build(t, origin.Addr())
		resp, err := s.client().Post(s.server.URL, "text/x", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		if resp.StatusCode != 200 || err != nil || string(got) != body {
			t.Errorf("%s: %s, %d bytes, error %v", resp.Proto, resp.Status, len(got), err)
		}
		_ = resp.Body.Close()
	}
}
