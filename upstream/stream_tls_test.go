package upstream

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/andreimerlescu/concert/internal/rawtest"
)

// TestWebSocketToHTTP2Origin: an origin that prefers HTTP/2 is asked on
// HTTP/1.1 for what only that can do.
func TestWebSocketToHTTP2Origin(t *testing.T) {
	origin := httptest.NewUnstartedServer(echoFour(t))
	origin.EnableHTTP2 = true
	origin.StartTLS()
	defer origin.Close()
	s := newSite(t, origin.URL, func(c *Config) {
		c.TLS = origin.Client().Transport.(*http.Transport).TLSClientConfig
	})
	if got := s.ask("GET / HTTP/1.1\r\nHost: example.com\r\n\r\n"); string(got.Body) != "HTTP/2.0" {
		t.Errorf("an ordinary request went by %q", got.Body)
	}
	c := s.open()
	c.Send("ping")
	if got, err := c.ReadAll(); got != "ping" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestWebSocketOverTLS: an encrypted connection is carried and closed alike.
func TestWebSocketOverTLS(t *testing.T) {
	origin := rawtest.NewOrigin(t, echo)
	s := newTLSSite(t, origin.Addr())
	cfg := s.server.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	cfg.NextProtos, cfg.ServerName = []string{"http/1.1"}, "example.com"
	c := rawtest.DialTLS(t, s.addr, cfg)
	c.Send(upgradeRequest + "ping")
	c.ReadHead()
	if got := c.ReadFull(4); got != "ping" {
		t.Errorf("got %q", got)
	}
	if got := origin.Requests()[0].Value("X-Forwarded-Proto"); got != "https" {
		t.Errorf("X-Forwarded-Proto is %q", got)
	}
	c.CloseWrite()
	c.Ended()
	s.outcomes(1)
}
