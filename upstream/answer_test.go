//go:build unix

package upstream

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/andreimerlescu/concert/internal/rawtest"
	"github.com/andreimerlescu/concert/pipeline"
)

// TestAmbiguousAnswersAreRefused: what two readers could frame differently is
// passed on by none.
func TestAmbiguousAnswersAreRefused(t *testing.T) {
	for name, response := range map[string]string{
		"two lengths":          "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok",
		"a list of lengths":    "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok",
		"a signed length":      "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok",
		"an endless length":    "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nok",
		"length and chunks":    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
		"another encoding":     "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
		"chunks twice":         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
		"chunks of HTTP/1.0":   "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
		"a bare LF":            "HTTP/1.1 200 OK\nContent-Length: 2\r\n\r\nok",
		"a bare LF at the end": "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\nok",
		"a bare CR":            "HTTP/1.1 200 OK\r\nX-A: 1\rContent-Length: 1\r\nContent-Length: 2\r\n\r\nok",
		"a folded line":        "HTTP/1.1 200 OK\r\nX-A: 1\r\n Content-Length: 1\r\nContent-Length: 2\r\n\r\nok",
		"a blank before colon": "HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok",
		"a line without colon": "HTTP/1.1 200 OK\r\nContent-Length\r\n\r\nok",
		"another version":      "HTTP/2.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
		"a long status":        "HTTP/1.1 2000 OK\r\nContent-Length: 2\r\n\r\nok",
	} {
		origin := rawtest.NewOrigin(t, func(x *rawtest.Exchange) { x.Write(response); x.Close() })
		s := newSite(t, origin.Addr())
		if got := s.ask(getRequest); got.Status() != "502" {
			t.Errorf("%s: got %q with %q", name, got.Line, got.Body)
		}
		if got := s.outcomes(1)[0]; got.Reason != pipeline.OriginDown {
			t.Errorf("%s: observed %+v", name, got)
		}
	}
}

// TestUnaskedAnswerIsNobodys: what an origin says behind its answer must not
// become the answer to the next visitor.
func TestUnaskedAnswerIsNobodys(t *testing.T) {
	const evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
	for name, late := range map[string]bool{"with it": false, "after it": true} {
		asked := make(chan struct{})
		origin := rawtest.NewOrigin(t, func(x *rawtest.Exchange) {
			if !late {
				x.Write(okReply + evil)
				return
			}
			x.Write(okReply)
			if x.Request.Conn == 1 {
				<-asked
				x.Write(evil)
				asked <- struct{}{}
			}
		})
		s := newSite(t, origin.Addr())
		for i := range 2 {
			if got := s.ask(getRequest); string(got.Body) != "ok" {
				t.Errorf("%s: visitor %d got %q", name, i+1, got.Body)
			}
			if late && i == 0 {
				asked <- struct{}{}
				<-asked
				rawtest.Until(t, "it to arrive", func() bool { return noneIsFit(s.proxy.plain) })
			}
		}
		if got := origin.Accepted(); got != 2 {
			t.Errorf("%s: %d connections, want 2", name, got)
		}
	}
}

// noneIsFit looks at the idle connections without using them.
func noneIsFit(c *client) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.idle {
		fit := l.br.Buffered() == 0
		_ = l.socket.Raw().Control(func(fd uintptr) { fit = fit && quiet(fd) }) // fails on a closed connection
		if fit {
			return false
		}
	}
	return true
}

// TestClosedIdleConnectionIsNotUsed: a POST cannot be repeated, so it must not
// be put on a connection the origin has closed in the meantime.
func TestClosedIdleConnectionIsNotUsed(t *testing.T) {
	origin := rawtest.NewOrigin(t, func(x *rawtest.Exchange) {
		_, _ = x.ReadBody()
		x.Write(okReply)
		x.Close() // although it did not say so
	})
	s := newSite(t, origin.Addr())
	for range 3 {
		if got := s.ask("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi"); got.Status() != "200" {
			t.Errorf("got %q", got.Line)
		}
		rawtest.Until(t, "the end of the idle connection", func() bool { return noneIsFit(s.proxy.plain) })
	}
}

func TestIdleConnectionsAreClosedInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := newMemorySite(t, rawtest.Reply(okReply))
		c.Send(getRequest)
		c.ReadResponse("GET")
		idle := func() int {
			s.proxy.plain.mu.Lock()
			defer s.proxy.plain.mu.Unlock()
			return len(s.proxy.plain.idle)
		}
		time.Sleep(idleConnTime - moment)
		if got := idle(); got != 1 {
			t.Errorf("%d idle connections, want 1", got)
		}
		time.Sleep(2 * moment)
		if got := idle(); got != 0 {
			t.Errorf("%d idle connections after %v", got, idleConnTime)
		}
	})
}

// TestOriginIsToldSoon: the connection to the origin ends within a second of
// the visitor's leaving, whatever the exchange is waiting for.
func TestOriginIsToldSoon(t *testing.T) {
	for name, first := range map[string]string{
		"header": "", "length": "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart",
		"chunks": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n",
	} {
		synctest.Test(t, func(t *testing.T) {
			asked, ended := make(chan struct{}), make(chan struct{})
			_, c := newMemorySite(t, func(x *rawtest.Exchange) {
				close(asked)
				x.Write(first)
				x.AwaitEnd()
				x.Close()
				close(ended)
			})
			c.Send(getRequest)
			<-asked
			time.Sleep(moment / 20)
			c.Close()
			if waited := took(func() { <-ended }); waited > moment {
				t.Errorf("%s: told after %v", name, waited)
			}
		})
	}
}

func TestLongHeaders(t *testing.T) {
	long := strings.Repeat("x", 3*linkBuffer)
	origin := rawtest.NewOrigin(t, rawtest.Reply("HTTP/1.1 200 OK\r\nX-Long: "+long+"\r\nContent-Length: 2\r\n\r\nok"))
	s := newSite(t, origin.Addr())
	for range 2 {
		got := s.ask("GET / HTTP/1.1\r\nHost: x\r\nX-Sent: " + long + "\r\n\r\n")
		if got.Value("X-Long") != long || string(got.Body) != "ok" {
			t.Errorf("got %q with %d bytes, body %q", got.Line, len(got.Value("X-Long")), got.Body)
		}
	}
	if got := origin.Requests()[1].Value("X-Sent"); got != long {
		t.Errorf("origin got %d bytes of %d", len(got), len(long))
	}
}
