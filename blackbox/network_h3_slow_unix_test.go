//go:build unix

package blackbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"github.com/quic-go/quic-go/http3"

	"github.com/andreimerlescu/concert/internal/rawtest"
)

// answersAsSent are what an origin answers on some paths, byte for byte.
var answersAsSent = map[string]string{
	"/trailers": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n2\r\nhi\r\n0\r\nX-Sum: abc\r\n\r\n",
	"/hints":    "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
	"/304":      "HTTP/1.1 304 Not Modified\r\nEtag: \"x\"\r\n\r\n",
	"/head":     "HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n",
	"/hops": "HTTP/1.1 200 OK\r\nConnection: X-Gone\r\nX-Gone: 1\r\nKeep-Alive: timeout=5\r\nX-Kept: 1\r\n" +
		"Set-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: 0\r\n\r\n",
	"/cut": "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart",
}

// answerAsSent gives those answers, a large body on /large, and back what was
// sent on any other path.
func answerAsSent(large []byte) func(*rawtest.Exchange) {
	return func(x *rawtest.Exchange) {
		body, err := x.ReadBody()
		if err != nil {
			x.Close()
			return
		}
		_, rest, _ := strings.Cut(x.Request.Line, " ")
		path, _, _ := strings.Cut(rest, " ")
		if path == "/large" {
			body = large
		}
		if answer, known := answersAsSent[path]; known {
			x.Write(answer)
		} else {
			x.Write(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body))
		}
		if path == "/cut" {
			x.Close()
		}
	}
}

// TestHTTP3CarriesAsSent: over QUIC, too, the origin and the client see each
// other's bytes.
func TestHTTP3CarriesAsSent(t *testing.T) {
	t.Parallel()
	large := bytes.Repeat([]byte("0123456789abcdef"), 3<<20/16)
	origin := rawtest.NewOrigin(t, answerAsSent(large))
	p := startSecure(t, origin.Addr(), "-http3", "-cap", "20")
	v := p.overQUIC(t, "127.0.0.5")
	ask := func(method, path string, body io.Reader) (*http.Response, []byte, error) {
		t.Helper()
		hints := ""
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got1xxResponse: func(status int, h textproto.MIMEHeader) error {
			hints = fmt.Sprint(status, h["Link"])
			return nil
		}})
		req, err := http.NewRequestWithContext(ctx, method, p.URL+path, body)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := v.Do(req)
		if err != nil {
			t.Fatalf("%s %s: %v", method, path, err)
		}
		defer resp.Body.Close()
		got, err := io.ReadAll(resp.Body)
		if path == "/hints" && hints != "103 [</a.css>]" {
			t.Errorf("hints %q", hints)
		}
		return resp, got, err
	}
	if resp, got, err := ask("GET", "/trailers", nil); string(got) != "hi" || err != nil || resp.Trailer.Get("X-Sum") != "abc" {
		t.Errorf("trailers: %q %v %v", got, resp.Trailer, err)
	}
	if _, got, err := ask("GET", "/hints", nil); string(got) != "ok" || err != nil {
		t.Errorf("after hints: %q %v", got, err)
	}
	if resp, got, err := ask("GET", "/304", nil); resp.StatusCode != 304 || resp.Header.Get("Etag") != `"x"` || len(got) > 0 || err != nil {
		t.Errorf("304: %s %v %q %v", resp.Status, resp.Header, got, err)
	}
	if resp, got, err := ask("HEAD", "/head", nil); resp.ContentLength != 1234 || len(got) > 0 || err != nil || resp.Header["Content-Type"] != nil {
		t.Errorf("HEAD: length %d, %q, %v", resp.ContentLength, got, err)
	}
	if resp, _, _ := ask("GET", "/hops", nil); resp.Header["X-Gone"] != nil || resp.Header["Keep-Alive"] != nil || resp.Header["Connection"] != nil ||
		resp.Header.Get("X-Kept") != "1" || len(resp.Header["Set-Cookie"]) < 2 {
		t.Errorf("hop by hop: %v", resp.Header)
	}
	if _, _, got, err := p.fetch(v, "/cut"); err == nil { // a reset may overtake all that came before
		t.Errorf("a truncated answer looks whole: %q", got)
	}
	if _, got, err := ask("GET", "/large", nil); !bytes.Equal(got, large) || err != nil {
		t.Errorf("large: %d bytes, %v", len(got), err)
	}
	if _, got, err := ask("POST", "/echo", bytes.NewReader(large)); !bytes.Equal(got, large) || err != nil {
		t.Errorf("an upload: %d bytes came back, %v", len(got), err)
	}
	if _, got, err := ask("POST", "/echo", struct{ io.Reader }{strings.NewReader("of unknown length")}); string(got) != "of unknown length" || err != nil {
		t.Errorf("an upload of unknown length: %q, %v", got, err)
	}
}

// TestHTTP3SlowClients: bodies that drip and answers that nobody reads end,
// and so does what a client has taken back.
func TestHTTP3SlowClients(t *testing.T) {
	t.Parallel()
	o := newOriginWith(t, func(r *rawtest.Request) string {
		if strings.Contains(r.Line, "/large") {
			return "HTTP/1.1 200 OK\r\nContent-Length: 33554432\r\n\r\n" + strings.Repeat("x", 32<<20)
		}
		return okPage(r)
	})
	p := startSecure(t, o.Addr(), "-http3", "-cap", "20", "-body-timeout", "1s", "-write-timeout", "1s")

	// A body of which a byte comes now and then.
	v := p.overQUIC(t, attacker)
	r, w := io.Pipe()
	dripping, stop := context.WithCancel(t.Context())
	defer stop()
	go func() { // ends with dripping, or when the body is given up
		drop := time.NewTicker(100 * time.Millisecond)
		defer drop.Stop()
		for {
			select {
			case <-dripping.Done():
				_ = w.Close()
				return
			case <-drop.C:
				if _, err := io.WriteString(w, "x"); err != nil {
					return
				}
			}
		}
	}()
	resp, err := v.Post(p.URL+"/p", "text/plain", r)
	if err == nil {
		_ = resp.Body.Close()
	}
	if err == nil && resp.StatusCode != 408 {
		t.Errorf("a body that drips: %s, want 408 or a reset", resp.Status)
	}
	stop()

	// An answer of which nothing is read: the client's window fills.
	unlessStill(t, func() error {
		resp, err = v.Get(p.URL + "/large")
		return err
	})
	rawtest.Until(t, "the answer is given up", func() bool { return p.stats(t).Occupancy == 0 })
	var reset *http3.Error
	if _, err = io.Copy(io.Discard, resp.Body); !errors.As(err, &reset) {
		t.Errorf("the answer that was not read ends with %v, want a reset", err)
	}
	_ = resp.Body.Close()

	// A request that is taken back.
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL+"/hold", nil)
	if err != nil {
		t.Fatal(err)
	}
	given := make(chan error, 1)
	go func() { // ends with ctx
		resp, err := v.Do(req)
		if err == nil {
			_ = resp.Body.Close()
		}
		given <- err
	}()
	rawtest.Until(t, "it is at the origin", func() bool { return p.stats(t).Occupancy == 1 })
	cancel()
	<-given
	o.openAll() // a visit is over when the origin is done with it
	rawtest.Until(t, "its slot is free", func() bool { return p.stats(t).Occupancy == 0 })
	if _, status, _, err := p.fetch(v, "/"); status != 200 || err != nil {
		t.Errorf("the next request on the connection: %d, %v", status, err)
	}
}
