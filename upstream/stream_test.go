package upstream

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/andreimerlescu/concert/internal/rawtest"
	"github.com/andreimerlescu/concert/pipeline"
)

const (
	upgradeRequest = "GET /stream/ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-Websocket-Key: k\r\n\r\n"
	switching      = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-Websocket-Accept: a\r\n\r\n"
)

// echo switches and sends everything back.
func echo(x *rawtest.Exchange) {
	x.Write(switching)
	for {
		p := x.Read()
		if p == "" {
			x.Close()
			return
		}
		x.Write(p)
	}
}

// open upgrades a connection to s.
func (s *site) open() *rawtest.Client {
	s.t.Helper()
	c := rawtest.Dial(s.t, s.addr)
	c.Send(upgradeRequest)
	if got := c.ReadHead(); got.Line != "HTTP/1.1 101 Switching Protocols" {
		s.t.Fatalf("got %q", got.Line)
	}
	return c
}

func TestUpgradeSpellings(t *testing.T) {
	origin := rawtest.NewOrigin(t, echo)
	s := newSite(t, origin.Addr())
	for _, fields := range []string{
		"Connection: Upgrade\r\nUpgrade: websocket",
		"Connection: keep-alive, Upgrade\r\nUpgrade: websocket",
		"connection: upgrade\r\nUpgrade: WebSocket",
		"Connection: keep-alive\r\nConnection: Upgrade\r\nUpgrade: websocket",
	} {
		c := rawtest.Dial(t, s.addr)
		c.Send("GET /stream/ws HTTP/1.1\r\nHost: x\r\n" + fields + "\r\nSec-WebSocket-Protocol: chat, x\r\n\r\nfirst")
		got := c.ReadHead()
		if got.Value("Upgrade") != "websocket" || got.Value("Connection") != "Upgrade" || got.Value("Sec-Websocket-Accept") != "a" || len(got.Values("X-Edited")) != 1 {
			t.Fatalf("%q: got %q %q", fields, got.Line, got.Fields)
		}
		if got := c.ReadFull(5); got != "first" {
			t.Errorf("%q: what was sent with the request came back as %q", fields, got)
		}
		c.Send("second")
		if got := c.ReadFull(6); got != "second" {
			t.Errorf("%q: then %q", fields, got)
		}
		c.Close()
	}
	for _, r := range origin.Requests() {
		if r.Value("Connection") != "Upgrade" || !strings.EqualFold(r.Value("Upgrade"), "websocket") || r.Value("Sec-Websocket-Protocol") != "chat, x" {
			t.Errorf("origin got %q", r.Fields)
		}
	}
}

func TestOtherUpgradesAreNotPassedOn(t *testing.T) {
	origin := rawtest.NewOrigin(t, rawtest.Reply(okReply))
	s := newSite(t, origin.Addr())
	for _, request := range []string{
		"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket, h2c\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 2\r\n\r\nhi",
		"GET / HTTP/1.0\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
	} {
		if got := s.ask(request); got.Status() != "200" {
			t.Errorf("%q: got %q", request, got.Line)
		}
	}
	for _, r := range origin.Requests() {
		if r.Has("Upgrade") || r.Has("Connection") || r.Has("Http2-Settings") {
			t.Errorf("origin got %q", r.Fields)
		}
	}
}

func TestOriginSpeaksFirst(t *testing.T) {
	origin := rawtest.NewOrigin(t, func(x *rawtest.Exchange) { x.Write(switching + "HELLO"); x.AwaitEnd(); x.Close() })
	s := newSite(t, origin.Addr())
	for range 200 {
		c := s.open()
		if got := c.ReadFull(5); got != "HELLO" {
			t.Fatalf("got %q", got)
		}
		c.Close()
	}
}

func TestRefusedUpgradeIsAnOrdinaryAnswer(t *testing.T) {
	origin := rawtest.NewOrigin(t, func(x *rawtest.Exchange) {
		if x.Request.Has("Upgrade") {
			x.Write("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno")
			return
		}
		x.Write(okReply)
	})
	s := newSite(t, origin.Addr())
	c := rawtest.Dial(t, s.addr)
	c.Send(upgradeRequest + "CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\n")
	if got := c.ReadResponse("GET"); got.Status() != "403" || string(got.Body) != "no" {
		t.Errorf("got %q %q", got.Line, got.Body)
	}
	if got := c.ReadResponse("CONNECT"); got.Status() != "405" {
		t.Errorf("the request behind it was not judged like any other: %q", got.Line)
	}
	if got := s.proxy.Streams(); got != 0 {
		t.Errorf("%d streams open", got)
	}
}

func TestSwitchToAnotherProtocolIsUnasked(t *testing.T) {
	origin := rawtest.NewOrigin(t, func(x *rawtest.Exchange) {
		x.Write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: foo\r\n\r\n")
		x.AwaitEnd()
		x.Close()
	})
	s := newSite(t, origin.Addr())
	if got := s.ask(upgradeRequest); got.Status() != "502" || s.outcomes(1)[0].Reason != pipeline.OriginSwitched {
		t.Errorf("got %q, observed %+v", got.Line, s.outcomes(1)[0])
	}
	tls := newTLSSite(t, origin.Addr())
	if resp, _, err := tls.get("/"); err != nil || resp.StatusCode != 502 || resp.ProtoMajor != 2 {
		t.Errorf("over HTTP/2: %v, error %v", resp, err)
	}
	rawtest.Until(t, "the origin's connections to be closed", func() bool { return origin.Open() == 0 })
}

func TestClosingGoesBothWays(t *testing.T) {
	how := make(chan string)
	ended := make(chan string, 1)
	origin := rawtest.NewOrigin(t, func(x *rawtest.Exchange) {
		x.Write(switching)
		switch <-how {
		case "origin closes":
			x.Close()
		case "origin resets":
			x.Reset()
		default:
			if x.AwaitEnd() {
				ended <- "FIN"
			} else {
				ended <- "reset"
			}
			x.Close()
		}
	})
	s := newSite(t, origin.Addr())
	for i, way := range []string{"client closes", "client resets", "origin closes", "origin resets"} {
		c := s.open()
		switch how <- way; way {
		case "client closes":
			c.Close()
			if got := <-ended; got != "FIN" {
				t.Errorf("%s: origin saw a %s", way, got)
			}
		case "client resets":
			c.Reset()
			<-ended
		case "origin closes":
			if rest, err := c.ReadAll(); rest != "" || err != nil {
				t.Errorf("%s: client got %q, %v", way, rest, err)
			}
		case "origin resets":
			if _, err := c.ReadAll(); err == nil {
				t.Errorf("%s: to the client it looked like a close", way)
			}
		}
		if got := s.outcomes(i + 1)[i]; got.Status != 101 {
			t.Errorf("%s: observed %+v", way, got)
		}
	}
	rawtest.Until(t, "all to be over", func() bool { return s.proxy.Streams() == 0 && origin.Open() == 0 })
}

func TestHalfClosedTunnelStillCarries(t *testing.T) {
	origin := rawtest.NewOrigin(t, func(x *rawtest.Exchange) {
		x.Write(switching)
		var got strings.Builder
		for p := x.Read(); p != ""; p = x.Read() {
			got.WriteString(p)
		}
		x.Write("after the end: " + got.String())
		x.Close()
	})
	c := newSite(t, origin.Addr()).open()
	c.Send("request")
	c.CloseWrite()
	if got, err := c.ReadAll(); got != "after the end: request" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestHalfClosedTunnelDoesNotLinger(t *testing.T) {
	release := make(chan struct{})
	origin := rawtest.NewOrigin(t, func(x *rawtest.Exchange) {
		x.Write(switching)
		<-release // notices nothing
		x.Close()
	})
	t.Cleanup(func() { close(release) })
	s := newSite(t, origin.Addr())
	c := s.open()
	c.Close()
	s.outcomes(1)
}

func TestIdleTunnelEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := newMemorySite(t, echo, func(c *Config) { c.StreamIdleTimeout, c.IdleTimeout = 10*moment, moment })
		c.Send(upgradeRequest)
		c.ReadHead()
		for range 3 {
			time.Sleep(9 * moment)
			c.Send("x")
			c.ReadFull(1)
		}
		quiet := took(func() { s.outcomes(1) })
		if quiet < 10*moment || quiet > 11*moment {
			t.Errorf("ended after %v of silence", quiet)
		}
	})
}
