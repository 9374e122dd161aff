//go:build unix

package upstream

import (
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/internal/rawtest"
)

// TestRefusalHasNothingOfTheAnswer: what was read of an answer before it turned
// out to be none must not show in the refusal, nor what an informational one
// said in the final one.
func TestRefusalHasNothingOfTheAnswer(t *testing.T) {
	const early = "HTTP/1.1 103 Early Hints\r\nX-Early: 1\r\n\r\n"
	for name, tt := range map[string]struct{ response, status string }{
		"a bad line":                {"HTTP/1.1 200 OK\r\nX-Secret: 1\r\nbad\r\n\r\n", "502"},
		"a bad length":              {"HTTP/1.1 200 OK\r\nX-Secret: 1\r\nContent-Length: -1\r\n\r\n", "502"},
		"a protocol nobody wanted":  {"HTTP/1.1 101 Switching Protocols\r\nX-Secret: 1\r\nUpgrade: websocket\r\n\r\n", "502"},
		"a bad line after early":    {early + "HTTP/1.1 200 OK\r\nX-Secret: 1\r\nbad\r\n\r\n", "502"},
		"an end after early":        {early, "502"},
		"a whole answer":            {okReply, "200"},
		"a whole answer past early": {early + okReply, "200"},
	} {
		for _, request := range []string{getRequest, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi"} {
			origin := rawtest.NewOrigin(t, func(x *rawtest.Exchange) {
				_, _ = x.ReadBody()
				x.Write(tt.response)
				x.Close()
			})
			s := newSite(t, origin.Addr())
			c := rawtest.Dial(t, s.addr)
			c.Send(request)
			got := c.ReadResponse(strings.Fields(request)[0])
			for got.Status() == "103" {
				got = c.ReadResponse(strings.Fields(request)[0])
			}
			if got.Status() != tt.status {
				t.Errorf("%s: got %q", name, got.Line)
			}
			if got.Has("X-Secret") || got.Has("X-Early") || got.Has("Upgrade") {
				t.Errorf("%s: the answer has %q", name, got.Fields)
			}
		}
	}
}
