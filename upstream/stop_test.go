package upstream

import (
	"context"
	"net/netip"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/internal/rawtest"
)

func TestStreamsEndAtStop(t *testing.T) {
	fromClient := make(chan string, 1)
	origin := rawtest.NewOrigin(t, func(x *rawtest.Exchange) {
		if x.Request.Has("Upgrade") {
			x.Write(switching + "\x81\x02hi")
			if strings.Contains(x.Request.Line, "/inside") {
				x.Write("\x81\x05par")
			}
			fromClient <- x.ReadFull(8)
		} else {
			x.Write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n")
		}
		x.AwaitEnd()
		x.Close()
	})
	stop := func(s *site) {
		ctx, cancel := context.WithTimeout(t.Context(), rawtest.Patience)
		defer cancel()
		if err := s.proxy.CloseStreams(ctx); err != nil {
			t.Error(err)
		}
		if n := s.proxy.Streams(); n != 0 {
			t.Errorf("%d streams left", n)
		}
	}
	t.Run("websocket", func(t *testing.T) {
		s := newSite(t, origin.Addr())
		c := s.open()
		c.ReadFull(4)
		stop(s)
		if got, err := c.ReadAll(); got != closeToClient || err != nil {
			t.Errorf("client got %q, %v", got, err)
		}
		if got := <-fromClient; got != closeToOrigin {
			t.Errorf("origin got %q", got)
		}
	})
	t.Run("inside a frame", func(t *testing.T) {
		s := newSite(t, origin.Addr())
		c := rawtest.Dial(t, s.addr)
		c.Send(strings.Replace(upgradeRequest, "/ws", "/inside", 1))
		c.ReadHead()
		c.ReadFull(4 + 5)
		stop(s)
		if got, _ := c.ReadAll(); got != "" {
			t.Errorf("client got %q in the middle of a frame", got)
		}
		<-fromClient
	})
	for name, request := range map[string]string{
		"events":             "GET /stream/events HTTP/1.1\r\nHost: x\r\n\r\n",
		"events on any path": "GET /page HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, origin.Addr())
			c := rawtest.Dial(t, s.addr)
			c.Send(request)
			c.ReadHead()
			c.ReadFull(len("9\r\ndata: 1\n\n\r\n"))
			stop(s)
			if got := c.ReadFull(5); got != "0\r\n\r\n" {
				t.Errorf("client got %q", got)
			}
		})
	}
	t.Run("later ones", func(t *testing.T) {
		s := newSite(t, origin.Addr())
		stop(s)
		if got := s.ask("GET /stream/events HTTP/1.1\r\nHost: x\r\n\r\n"); got.Status() != "503" {
			t.Errorf("got %q", got.Line)
		}
	})
}

func TestCloseStreamsGivesUpWithItsContext(t *testing.T) {
	origin := rawtest.NewOrigin(t, func(x *rawtest.Exchange) { x.Write(switching); x.AwaitEnd(); x.Close() })
	s := newSite(t, origin.Addr())
	s.open() // and the client does not answer the farewell
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.proxy.CloseStreams(ctx); err == nil {
		t.Error("a stream was open, and CloseStreams said nothing")
	}
}

func TestEndStreamsOfOneClient(t *testing.T) {
	origin := rawtest.NewOrigin(t, echo)
	s := newSite(t, origin.Addr())
	stays := s.open()
	goes := rawtest.DialFrom(t, "127.0.0.2", s.addr)
	goes.Send(upgradeRequest)
	goes.ReadHead()
	banned := netip.MustParseAddr("127.0.0.2")
	if n := s.proxy.EndStreams(func(client netip.Addr) bool { return client == banned }); n != 1 {
		t.Errorf("%d streams were ended, want 1", n)
	}
	goes.Ended()
	stays.Send("ping")
	if got := stays.ReadFull(4); got != "ping" {
		t.Errorf("the other client got %q", got)
	}
}
