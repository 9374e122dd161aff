package listener

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// headerTime is as short as a machine allows that stands still for seconds: what
// a test sends of a header has to come within.
const headerTime = 6 * time.Second

// serve runs a server under the guard until the test ends.
func serve(t *testing.T, g *Guard, h http.Handler) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: h, ReadHeaderTimeout: headerTime, ConnState: g.State, ConnContext: g.Context}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(g.Wrap(ln)) }() // ends with Close
	t.Cleanup(func() {
		_ = srv.Close()
		<-done
	})
	return ln.Addr().String()
}

func connect(t *testing.T, addr string) (net.Conn, *bufio.Reader) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	return c, bufio.NewReader(c)
}

func TestSlowHeaderIsTold(t *testing.T) {
	g := New(Config{})
	addr := serve(t, g, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }))
	for name, begin := range map[string]string{
		"in the request line": "GET /", "between fields": "GET / HTTP/1.1\r\nHost: a\r\n", "in a field": "GET / HTTP/1.1\r\nHost: a\r\nX-Slow",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, r := connect(t, addr)
			_, _ = io.WriteString(c, begin)
			all, err := io.ReadAll(r)
			if err != nil || !strings.HasPrefix(string(all), "HTTP/1.1 408 Request Timeout\r\n") || strings.Count(string(all), "HTTP/1.1") != 1 {
				t.Errorf("%q, %v; want one 408 and the end", all, err)
			}
		})
	}
	t.Run("the second request", func(t *testing.T) {
		t.Parallel()
		c, r := connect(t, addr)
		_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHos")
		if all, err := io.ReadAll(r); err != nil || !strings.HasPrefix(string(all), "HTTP/1.1 408 ") {
			t.Errorf("%q, %v; want a 408", all, err)
		}
	})
	t.Run("nothing at all", func(t *testing.T) {
		t.Parallel()
		_, r := connect(t, addr)
		if all, err := io.ReadAll(r); err != nil || len(all) > 0 {
			t.Errorf("%q, %v; want the end, and no word", all, err)
		}
	})
}

// Over HTTP/2, too, who waits makes room and who is being answered stays.
func TestRoomIsMadeOverHTTP2(t *testing.T) {
	g := New(Config{MaxConns: 2})
	hold, arrived := make(chan struct{}), make(chan struct{}, 1)
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hold" {
			arrived <- struct{}{}
			<-hold
		}
		_, _ = io.WriteString(w, r.Proto)
	}))
	srv.Listener = g.Wrap(srv.Listener)
	srv.Config.ConnState, srv.Config.ConnContext = g.State, g.Context
	srv.EnableHTTP2 = true
	srv.StartTLS()
	t.Cleanup(srv.Close)
	visit := func(path string) (string, error) { // on a connection that stays open
		tr := srv.Client().Transport.(*http.Transport).Clone()
		t.Cleanup(tr.CloseIdleConnections)
		resp, err := (&http.Client{Transport: tr}).Get(srv.URL + path)
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		return string(b), err
	}
	held := make(chan string, 1)
	go func() { // ends with hold
		got, err := visit("/hold")
		held <- got + " " + errText(err)
	}()
	<-arrived
	for range 5 {
		if got, err := visit("/"); got != "HTTP/2.0" || err != nil {
			t.Fatalf("a newcomer: %q, %v", got, err)
		}
	}
	close(hold)
	if got := <-held; got != "HTTP/2.0 " {
		t.Errorf("who was being answered: %q", got)
	}
	if s := g.Stats(); s.Shed != 4 || s.Refused["max-conns"] != 0 {
		t.Errorf("stats %+v, want 4 shed", s)
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// The address in the header is what the handler sees, with TLS and without.
func TestProxyHeaderBeneathTLS(t *testing.T) {
	g := New(Config{ProxyProtocol: true, Proxies: trust(t, "127.0.0.1")})
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Proto+" "+r.RemoteAddr)
	}))
	srv.Listener = g.Wrap(srv.Listener)
	srv.Config.ConnState, srv.Config.ConnContext = g.State, g.Context
	srv.EnableHTTP2 = true
	srv.StartTLS()
	t.Cleanup(srv.Close)
	transport := srv.Client().Transport.(*http.Transport)
	dialer := &net.Dialer{}
	transport.DialTLSContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dialer.DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		_, _ = io.WriteString(c, v2(0x21, 0x11, addrs4()...))
		cfg := transport.TLSClientConfig.Clone()
		cfg.ServerName, cfg.NextProtos = "example.com", []string{"h2"}
		return tls.Client(c, cfg), nil
	}
	resp, err := srv.Client().Get(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got, _ := io.ReadAll(resp.Body); string(got) != "HTTP/2.0 203.0.113.9:4711" {
		t.Errorf("the handler saw %q", got)
	}
}
