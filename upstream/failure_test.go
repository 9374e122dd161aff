package upstream

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/internal/parts"
	"github.com/andreimerlescu/concert/internal/rawtest"
	"github.com/andreimerlescu/concert/pipeline"
)

func TestOriginFailures(t *testing.T) {
	for _, tc := range []struct {
		name   string
		script rawtest.Script
		status string
		reason pipeline.Reason
	}{
		{"closed", func(x *rawtest.Exchange) { x.Close() }, "502", pipeline.OriginDown},
		{"reset", func(x *rawtest.Exchange) { x.Reset() }, "502", pipeline.OriginDown},
		{"garbage", func(x *rawtest.Exchange) { x.Write("SSH-2.0-x\r\n\r\n"); x.Close() }, "502", pipeline.OriginDown},
		{"half a header", func(x *rawtest.Exchange) { x.Write("HTTP/1.1 200 OK\r\nX-A"); x.Close() }, "502", pipeline.OriginDown},
		{"status too low", func(x *rawtest.Exchange) { x.Write("HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n"); x.Close() }, "502", pipeline.OriginDown},
		{"header too large", func(x *rawtest.Exchange) {
			x.Write("HTTP/1.1 200 OK\r\n" + strings.Repeat("X-A: "+strings.Repeat("a", 1000)+"\r\n", 1200) + "\r\n")
			x.Close()
		}, "502", pipeline.OriginDown},
		{"unasked switch", func(x *rawtest.Exchange) {
			x.Write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: foo\r\n\r\n")
			x.AwaitEnd()
			x.Close()
		}, "502", pipeline.OriginSwitched},
	} {
		t.Run(tc.name, func(t *testing.T) {
			origin := rawtest.NewOrigin(t, tc.script)
			s := newSite(t, origin.Addr())
			if got := s.ask("GET / HTTP/1.1\r\nHost: x\r\n\r\n"); got.Status() != tc.status {
				t.Errorf("got %q", got.Line)
			}
			if got := s.outcomes(1)[0]; got.Reason != tc.reason {
				t.Errorf("reason %q, want %q", got.Reason.Code(), tc.reason.Code())
			}
			if tc.reason == pipeline.OriginSwitched {
				rawtest.Until(t, "the origin's connection to be closed", func() bool { return origin.Open() == 0 })
			}
		})
	}
	t.Run("refused", func(t *testing.T) {
		s := newSite(t, parts.Address(t)) // nobody listens there
		if got := s.ask("GET / HTTP/1.1\r\nHost: x\r\n\r\n"); got.Status() != "502" {
			t.Errorf("got %q", got.Line)
		}
	})
}

func TestVisitorWhoLeavesIsNoFailure(t *testing.T) {
	ended := make(chan struct{})
	origin := rawtest.NewOrigin(t, func(x *rawtest.Exchange) {
		x.AwaitEnd()
		x.Close()
		ended <- struct{}{}
	})
	s := newSite(t, origin.Addr())
	c := rawtest.Dial(t, s.addr)
	c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	rawtest.Until(t, "the request at the origin", func() bool { return len(origin.Requests()) == 1 })
	c.Close()
	<-ended // the origin is told
	if got := s.outcomes(1)[0]; got != (outcome{499, pipeline.ClientGone, false}) {
		t.Errorf("observed %+v", got)
	}
}

// shortLimit is the time of an origin that never answers: as short as a machine
// that stands still for seconds allows, since the request has to get there within.
const shortLimit = 6 * time.Second

// TestSlotIsHeldWhileTheOriginWorks: a visitor leaves, and the origin, which is
// told, goes on with the page, as PHP does. The visit, and with it its slot, is
// over when the origin answers or hangs up, or has had its time.
func TestSlotIsHeldWhileTheOriginWorks(t *testing.T) {
	for name, tt := range map[string]struct {
		then    func(x *rawtest.Exchange)
		timeout time.Duration
		method  string
	}{
		"it answers":          {func(x *rawtest.Exchange) { x.Write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") }, rawtest.Patience, "GET"},
		"it closes":           {(*rawtest.Exchange).Close, rawtest.Patience, "GET"},
		"it answers a form":   {func(x *rawtest.Exchange) { x.Write("HTTP/1.1 303 See Other\r\nContent-Length: 0\r\n\r\n") }, rawtest.Patience, "POST"},
		"it never has an end": {nil, shortLimit, "GET"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			told, done := make(chan struct{}), make(chan struct{})
			origin := rawtest.NewOrigin(t, func(x *rawtest.Exchange) {
				x.ReadBody()
				x.AwaitEnd()
				told <- struct{}{}
				<-done
				if tt.then != nil {
					tt.then(x)
				}
			})
			s := newSite(t, origin.Addr(), func(c *Config) { c.HeaderTimeout = tt.timeout })
			c := rawtest.Dial(t, s.addr)
			body := "\r\n"
			if tt.method == "POST" {
				body = "Content-Length: 4\r\n\r\nbody"
			}
			c.Send(tt.method + " /held/page HTTP/1.1\r\nHost: x\r\n" + body)
			rawtest.Until(t, "the request at the origin", func() bool { return len(origin.Requests()) == 1 })
			c.Close()
			<-told
			if tt.then != nil {
				if n := s.ended(); n != 0 {
					t.Errorf("%d visits are over while the origin works", n)
				}
				close(done)
			}
			if got := s.outcomes(1)[0]; got != (outcome{499, pipeline.ClientGone, false}) {
				t.Errorf("observed %+v", got)
			}
			if tt.then == nil {
				close(done)
			}
		})
	}
}

// TestStaleConnections: the origin closes idle connections just as they are
// used again. GETs are repeated, POSTs never.
func TestStaleConnections(t *testing.T) {
	for _, tc := range []struct{ request, status string }{
		{"GET /%d HTTP/1.1\r\nHost: x\r\n\r\n", "200"},
		{"OPTIONS /%d HTTP/1.1\r\nHost: x\r\n\r\n", "200"},
		{"POST /%d HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi", "502"},
		{"POST /%d HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", "502"},
		{"POST /%d HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nIdempotency-Key: k\r\n\r\n", "502"},
		{"POST /%d HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nX-Idempotency-Key: k\r\n\r\n", "502"},
		{"PUT /%d HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", "502"},
	} {
		var used atomic.Bool
		origin := rawtest.NewOrigin(t, func(x *rawtest.Exchange) {
			_, _ = x.ReadBody()
			if x.Request.Conn == 1 && used.Swap(true) {
				x.Close() // the second request on the first connection
				return
			}
			x.Write(okReply)
		})
		s := newSite(t, origin.Addr())
		s.ask("GET /0 HTTP/1.1\r\nHost: x\r\n\r\n")
		if got := s.ask(fmt.Sprintf(tc.request, 1)); got.Status() != tc.status {
			t.Errorf("%q: got %q, want %s", tc.request, got.Line, tc.status)
		}
		wantAttempts := 2
		if tc.status == "200" {
			wantAttempts = 3
		}
		if got := len(origin.Requests()); got != wantAttempts {
			t.Errorf("%q: origin got %d requests, want %d", tc.request, got, wantAttempts)
		}
	}
}

func TestConnectionsAreReused(t *testing.T) {
	origin := rawtest.NewOrigin(t, func(x *rawtest.Exchange) {
		x.Write(okReply)
	})
	s := newSite(t, origin.Addr())
	var crowd sync.WaitGroup
	for range 50 {
		crowd.Go(func() {
			c := rawtest.Dial(t, s.addr)
			for range 40 {
				c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
				if got := c.ReadResponse("GET"); got.Status() != "200" {
					t.Errorf("got %q", got.Line)
				}
			}
		})
	}
	crowd.Wait()
	if got := origin.Accepted(); got > 100 {
		t.Errorf("%d connections for 2000 requests at 50 at once", got)
	}
}

// TestEnvironmentsProxyIsIgnored by the clients of net/http. It reads the
// environment once in a process, so that setting it here would prove nothing;
// what a process does, package blackbox shows.
func TestEnvironmentsProxyIsIgnored(t *testing.T) {
	if newTransport(new(Config)).Proxy != nil {
		t.Error("somebody is asked for a proxy to the origin")
	}
}

func TestNewReportsAllProblems(t *testing.T) {
	_, err := New(Config{HeaderTimeout: -1, MaxBody: -1})
	for _, want := range []string{"no origin", "header timeout -1ns", "largest body -1"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not mention %q", err, want)
		}
	}
	for _, bad := range []string{"ftp://x", "http://", "http://u:secret@x", "http://x?q", "http://x#f"} {
		_, err := New(Config{Upstream: mustURL(t, bad)})
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: error %v", bad, err)
		}
	}
}
