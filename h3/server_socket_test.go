package h3

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"github.com/andreimerlescu/concert/listener"
)

// patience is how long anything may take before the test is given up.
const patience = 30 * time.Second

// rig is a server on a socket of its own.
type rig struct {
	t      *testing.T
	server *Server
	guard  *listener.Guard
	addr   string
	client *tls.Config
	done   chan error // of Serve
}

func newRig(t *testing.T, limits listener.Config, h http.HandlerFunc) *rig {
	t.Helper()
	certified := httptest.NewUnstartedServer(nil) // for its certificate
	certified.StartTLS()
	defer certified.Close()
	client := certified.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	client.ServerName = "example.com"
	r := &rig{t: t, guard: listener.New(limits), client: client, done: make(chan error, 1)}
	r.server = New(Config{
		Handler: h, TLS: &tls.Config{Certificates: certified.TLS.Certificates}, Guard: r.guard,
		Streams: 100, HandshakeTimeout: patience, IdleTimeout: patience, MaxHeaderBytes: 8 << 10,
	})
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.addr = udp.LocalAddr().String()
	go func() { r.done <- r.server.Serve(udp) }() // ends with Close
	t.Cleanup(func() {
		_ = r.server.Close()
		if err := <-r.done; err != nil {
			t.Error(err)
		}
	})
	return r
}

// visitor is a client with connections of its own.
func (r *rig) visitor() *http.Client {
	transport := &http3.Transport{TLSClientConfig: r.client, QUICConfig: &quic.Config{MaxIdleTimeout: patience}}
	r.t.Cleanup(func() { _ = transport.Close() })
	return &http.Client{Transport: transport, Timeout: patience}
}

// get returns the body.
func (r *rig) get(c *http.Client, path string) (string, error) {
	resp, err := c.Get("https://" + r.addr + path)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return string(body), err
}

// eventually waits for a condition that nobody can be told of.
func (r *rig) eventually(what string, ok func() bool) {
	r.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(patience); !ok(); {
		select {
		case <-tick.C:
		case <-end:
			r.t.Fatalf("it never came to this: %s", what)
		}
	}
}

func TestServes(t *testing.T) {
	r := newRig(t, listener.Config{}, func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		host, _, _ := net.SplitHostPort(req.RemoteAddr)
		fmt.Fprintf(w, "%s %s %s %s %q", req.Proto, req.Method, req.RequestURI, host, body)
	})
	v := r.visitor()
	if got, err := r.get(v, "/a//b%2Fc?x=1"); got != `HTTP/3.0 GET /a//b%2Fc?x=1 127.0.0.1 ""` || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	resp, err := v.Post("https://"+r.addr+"/form", "text/plain", strings.NewReader("hello"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got, _ := io.ReadAll(resp.Body); string(got) != `HTTP/3.0 POST /form 127.0.0.1 "hello"` {
		t.Errorf("%q", got)
	}
	_, port, _ := net.SplitHostPort(r.addr)
	if got := r.server.AltSvc(); len(got) != 1 || got[0] != `h3=":`+port+`"; ma=86400` {
		t.Errorf("Alt-Svc %q", got)
	}
	if s := r.guard.Stats(); s.Open != 1 || s.Clients != 1 {
		t.Errorf("stats %+v: want one connection", s)
	}
}

func TestTruncationIsSeen(t *testing.T) {
	r := newRig(t, listener.Config{}, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "part")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	if got, err := r.get(r.visitor(), "/"); err == nil {
		t.Errorf("a truncated answer looks whole: %q", got)
	}
}

func TestLargeHeaderIsRefused(t *testing.T) {
	called := false
	r := newRig(t, listener.Config{}, func(http.ResponseWriter, *http.Request) { called = true })
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+r.addr+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Large", strings.Repeat("x", 32<<10))
	resp, err := r.visitor().Do(req)
	if err == nil {
		defer resp.Body.Close()
	}
	if called || err == nil && resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("called %v, %v", called, err)
	}
}

func TestOneOfTooMany(t *testing.T) {
	r := newRig(t, listener.Config{MaxPerClient: 1}, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
	first := r.visitor()
	if got, err := r.get(first, "/"); got != "ok" || err != nil {
		t.Fatal(got, err)
	}
	if got, err := r.get(r.visitor(), "/"); err == nil {
		t.Errorf("a second connection of one client: %q", got)
	}
	if n := r.guard.Stats().Refused["max-conns-per-client"]; n == 0 {
		t.Error("the refusal is not counted")
	}
	_ = first.Transport.(*http3.Transport).Close()
	r.eventually("the place is free", func() bool { return r.guard.Stats().Open == 0 })
	if got, err := r.get(r.visitor(), "/"); got != "ok" || err != nil {
		t.Errorf("after the first has left: %q, %v", got, err)
	}
}

// Who only waits makes room; who is being answered does not.
func TestWaitingConnectionMakesRoom(t *testing.T) {
	hold, arrived := make(chan struct{}), make(chan struct{}, 1)
	r := newRig(t, listener.Config{MaxConns: 2}, func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path == "/hold" {
			arrived <- struct{}{}
			<-hold
		}
		_, _ = io.WriteString(w, "ok")
	})
	held := make(chan string, 1)
	busy := r.visitor()
	go func() { // ends with hold
		got, err := r.get(busy, "/hold")
		held <- fmt.Sprint(got, err)
	}()
	<-arrived
	waiting := r.visitor()
	if got, err := r.get(waiting, "/"); got != "ok" || err != nil {
		t.Fatal(got, err)
	}
	r.eventually("the second is known to wait", func() bool {
		got, err := r.get(r.visitor(), "/")
		return got == "ok" && err == nil
	})
	close(hold)
	if got := <-held; got != "ok<nil>" {
		t.Errorf("the one who was being answered: %s", got)
	}
	if s := r.guard.Stats(); s.Shed == 0 {
		t.Errorf("stats %+v: want one shed", s)
	}
}

// A client that takes back hundreds of requests loses its connection, others
// do not notice.
func TestResetsAreSeen(t *testing.T) {
	arrived := make(chan struct{}, 500*50)
	r := newRig(t, listener.Config{}, func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path == "/" {
			_, _ = io.WriteString(w, "ok")
			return
		}
		arrived <- struct{}{}
		<-req.Context().Done()
		listener.Reset(req.Context(), time.Now())
	})
	honest := r.visitor()
	if got, err := r.get(honest, "/"); got != "ok" || err != nil {
		t.Fatal(got, err)
	}
	attacker := r.visitor()
	for i := 0; r.guard.Stats().Resets == 0; i++ {
		if i > 500 {
			t.Fatal("thousands of requests taken back, and nobody minds")
		}
		takeBack(t, attacker, "https://"+r.addr+"/never", arrived)
	}
	if got, err := r.get(honest, "/"); got != "ok" || err != nil {
		t.Errorf("an honest client: %q, %v", got, err)
	}
}

// takeBack sends 50 requests and takes them back once half of them are under way.
func takeBack(t *testing.T, client *http.Client, url string, arrived <-chan struct{}) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var streams sync.WaitGroup
	for range 50 {
		streams.Go(func() { // ends with ctx
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
			if err != nil {
				panic("BUG: " + err.Error())
			}
			if resp, err := client.Do(req); err == nil {
				_ = resp.Body.Close()
			}
		})
	}
	over := make(chan struct{})
	go func() { streams.Wait(); close(over) }() // ends with the streams
	for n := 0; n < 25; n++ {
		select {
		case <-arrived:
		case <-over: // the connection was closed
			return
		}
	}
	cancel()
	<-over
}
