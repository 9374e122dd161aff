package handover

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/internal/allocs"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// A connection that was accepted before the shutdown gets its answer.
func TestShutdownServesFreshConnections(t *testing.T) {
	states := make(chan http.ConnState, 9)
	type mark struct{}
	srv := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Context().Value(mark{}) == nil {
				w.WriteHeader(http.StatusTeapot)
			}
		}),
		ConnContext: func(ctx context.Context, _ net.Conn) context.Context { return context.WithValue(ctx, mark{}, 1) },
		ConnState:   func(_ net.Conn, s http.ConnState) { states <- s },
	}
	conns := Watch(srv)
	p, err := Join(Options{})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := p.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = srv.Serve(ln) }() // ends with Shutdown
	c, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if s := <-states; s != http.StateNew {
		t.Fatal(s)
	}
	if err := p.Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- conns.Shutdown(context.Background()) }() // ends when the connection does
	rawtest.Until(t, "Shutdown waits", func() bool {
		conns.mu.Lock()
		defer conns.mu.Unlock()
		return conns.empty != nil
	})
	if _, err := c.Write([]byte("GET / HTTP/1.1\r\nHost: a\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil || !strings.Contains(line, "200 OK") {
		t.Errorf("got %q, %v", line, err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// Connections that ended without a request are not waited for.
func TestShutdownForgetsConnectionsThatEnded(t *testing.T) {
	gone := make(chan struct{})
	srv := &http.Server{ConnState: func(_ net.Conn, s http.ConnState) {
		if s == http.StateClosed {
			close(gone)
		}
	}}
	conns := Watch(srv)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = srv.Serve(ln) }() // ends with Shutdown
	c, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
	<-gone
	if n := len(conns.fresh); n != 0 {
		t.Errorf("%d connections are remembered", n)
	}
	if err := conns.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// nullWriter takes no answer.
type nullWriter struct{ http.ResponseWriter }

// watched is a handler under Watch, and a request on a connection in use.
func watched() (http.Handler, *http.Request) {
	srv := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}
	Watch(srv)
	near, far := net.Pipe()
	_ = far.Close()
	r, err := http.NewRequestWithContext(srv.ConnContext(context.Background(), near), http.MethodGet, "/", nil)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return srv.Handler, r
}

func TestAllocsWatched(t *testing.T) {
	h, r := watched()
	if n := allocs.PerRun(1000, func() { h.ServeHTTP(nullWriter{}, r) }); n != 0 {
		t.Errorf("%v allocations a request", n)
	}
}

func BenchmarkWatched(b *testing.B) {
	h, r := watched()
	var w http.ResponseWriter = nullWriter{}
	b.ReportAllocs()
	for b.Loop() {
		h.ServeHTTP(w, r)
	}
}
