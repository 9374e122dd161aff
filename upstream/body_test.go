package upstream

import (
	"fmt"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/internal/rawtest"
	"github.com/andreimerlescu/concert/pipeline"
)

func TestContinueComesOnceAndOnlyWhenWanted(t *testing.T) {
	read := make(chan struct{})
	origin := rawtest.NewOrigin(t, func(x *rawtest.Exchange) {
		switch {
		case strings.Contains(x.Request.Line, "/refuse"):
			x.Write("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
			x.Close()
		case strings.Contains(x.Request.Line, "/accept"):
			<-read
			x.Write("HTTP/1.1 100 Continue\r\n\r\n")
			fallthrough
		default:
			x.ReadBody()
			x.Write(okReply)
		}
	})
	s := newSite(t, origin.Addr())
	ask := func(path string) *rawtest.Client {
		c := rawtest.Dial(t, s.addr)
		c.Send("POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
		return c
	}
	t.Run("origin refuses", func(t *testing.T) {
		if got := ask("/refuse").ReadResponse("POST"); got.Status() != "413" {
			t.Errorf("got %q", got.Line)
		}
	})
	for _, path := range []string{"/accept", "/silent"} {
		t.Run(path, func(t *testing.T) {
			c := ask(path)
			if path == "/accept" {
				read <- struct{}{}
			}
			if got := c.ReadResponse("POST"); got.Line != "HTTP/1.1 100 Continue" || len(got.Fields) > 0 {
				t.Errorf("got %q %q", got.Line, got.Fields)
			}
			c.Send("hi")
			if got := c.ReadResponse("POST"); got.Status() != "200" || string(got.Body) != "ok" {
				t.Errorf("got %q %q", got.Line, got.Body)
			}
		})
	}
}

func TestEarlyAnswerReachesVisitorWhoIsSending(t *testing.T) {
	origin := rawtest.NewOrigin(t, func(x *rawtest.Exchange) {
		x.Write("HTTP/1.1 413 Too Large\r\nContent-Length: 4\r\nConnection: close\r\n\r\nfull")
		x.AwaitEnd()
		x.Close()
	})
	s := newSite(t, origin.Addr())
	c := rawtest.Dial(t, s.addr)
	const size = 4 << 20
	c.Send(fmt.Sprintf("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", size))
	c.Send(strings.Repeat("x", size))
	if got := c.ReadResponse("POST"); got.Status() != "413" || string(got.Body) != "full" {
		t.Errorf("got %q %q", got.Line, got.Body)
	}
	c.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if got := c.ReadResponse("GET"); got.Status() != "413" {
		t.Errorf("next request on the connection got %q", got.Line)
	}
}

func TestAnswerWhileSending(t *testing.T) {
	origin := rawtest.NewOrigin(t, func(x *rawtest.Exchange) {
		x.Write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
		for range 3 {
			x.Write("7\r\n" + x.ReadFull(7) + "\r\n") // a whole chunk of the request
		}
		x.Write("0\r\n\r\n")
		x.Close()
	})
	s := newSite(t, origin.Addr())
	c := rawtest.Dial(t, s.addr)
	c.Send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
	if got := c.ReadHead(); got.Line != "HTTP/1.1 200 OK" {
		t.Fatalf("got %q", got.Line)
	}
	for _, piece := range []string{"ab", "cd", "ef"} {
		c.Send("2\r\n" + piece + "\r\n")
		if got, want := c.ReadFull(12), "7\r\n2\r\n"+piece+"\r\n\r\n"; got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
}

func TestBodyLimits(t *testing.T) {
	origin := rawtest.NewOrigin(t, func(x *rawtest.Exchange) {
		if _, err := x.ReadBody(); err != nil {
			x.Close()
			return
		}
		x.Write(okReply)
	})
	s := newSite(t, origin.Addr(), func(c *Config) { c.MaxBody = 8 })
	for _, tc := range []struct{ fields, status string }{
		{"Content-Length: 8\r\n\r\n12345678", "200"},
		{"Content-Length: 9\r\n\r\n123456789", "413"},
		{"Transfer-Encoding: chunked\r\n\r\n8\r\n12345678\r\n0\r\n\r\n", "200"},
		{"Transfer-Encoding: chunked\r\n\r\n9\r\n123456789\r\n0\r\n\r\n", "413"},
		{"Transfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n", "400"},
		{"Transfer-Encoding: chunked\r\n\r\n5;a\nX\r\nhello\r\n0\r\n\r\n", "400"},
		{"Transfer-Encoding: chunked\r\n\r\nxx\r\nhello\r\n0\r\n\r\n", "400"},
	} {
		c := rawtest.Dial(t, s.addr)
		c.Send("POST / HTTP/1.1\r\nHost: x\r\n" + tc.fields)
		if got := c.ReadResponse("POST"); got.Status() != tc.status {
			t.Errorf("%q: status %s, want %s", tc.fields, got.Status(), tc.status)
		}
	}
	for _, r := range origin.Requests() {
		if n := len(r.Body); n != 0 && n != 8 {
			t.Errorf("origin took a body of %d bytes for whole", n)
		}
	}
}

func TestVisitorWhoStopsSendingByLeaving(t *testing.T) {
	origin := rawtest.NewOrigin(t, func(x *rawtest.Exchange) {
		if _, err := x.ReadBody(); err == nil {
			t.Error("origin took a cut body for whole")
		}
		x.Close()
	})
	s := newSite(t, origin.Addr())
	for i, framing := range []string{"Content-Length: 9\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"} {
		c := rawtest.Dial(t, s.addr)
		c.Send("POST / HTTP/1.1\r\nHost: x\r\n" + framing)
		rawtest.Until(t, "the request at the origin", func() bool { return len(origin.Requests()) == i+1 })
		c.Close()
		if got := s.outcomes(i + 1)[i]; got.Reason != pipeline.ClientGone || got.Status != 499 {
			t.Errorf("%q: observed %+v", framing, got)
		}
	}
}
