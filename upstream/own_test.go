package upstream

import (
	"net/http"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/internal/rawtest"
)

// What the origin says to Concert alone reaches response editors and nobody
// else: not in the final header, not before, not behind.
func TestOwnFieldsReachNoVisitor(t *testing.T) {
	const own = "concert-priority: staff\r\n"
	origin := rawtest.NewOrigin(t, rawtest.Reply("HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n"+own+"\r\n"+
		"HTTP/1.1 200 OK\r\n"+own+own+"X-Kept: 1\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum, Concert-Priority\r\n\r\n"+
		"2\r\nhi\r\n0\r\nX-Sum: abc\r\n"+own+"Concert-Other: 1\r\n\r\n"))
	change := func(c *Config) { c.OwnFields = "concert-priority, Concert-Other" }
	t.Run("h1", func(t *testing.T) {
		c := rawtest.Dial(t, newSite(t, origin.Addr(), change).addr)
		c.Send("GET / HTTP/1.1\r\nHost: x\r\nTE: trailers\r\n\r\n")
		for _, want := range []string{"103", "200"} {
			got := c.ReadResponse("GET")
			if got.Status() != want || strings.Contains(strings.ToLower(strings.Join(append(got.Fields, got.Trailers...), "\n")), "concert-") {
				t.Errorf("%s, header %q, trailers %q", got.Line, got.Fields, got.Trailers)
			}
			if want == "200" && (got.Value("X-Kept") != "1" || len(got.Trailers) != 1 || got.Value("Trailer") != "X-Sum") {
				t.Errorf("too much is gone: header %q, trailers %q", got.Fields, got.Trailers)
			}
		}
	})
	t.Run("h2", func(t *testing.T) {
		resp, body, err := newTLSSite(t, origin.Addr(), change).get("/")
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range []http.Header{resp.Header, resp.Trailer} {
			if h["Concert-Priority"] != nil || h["Concert-Other"] != nil {
				t.Errorf("the visitor sees %v", h)
			}
		}
		if body != "hi" || resp.ProtoMajor != 2 || resp.Trailer.Get("X-Sum") != "abc" {
			t.Errorf("%s, body %q, trailers %v", resp.Proto, body, resp.Trailer)
		}
	})
	t.Run("switch", func(t *testing.T) {
		origin := rawtest.NewOrigin(t, rawtest.Reply("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+own+"X-Kept: 1\r\n\r\n"))
		c := rawtest.Dial(t, newSite(t, origin.Addr(), change).addr)
		c.Send("GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		if got := c.ReadResponse("GET"); got.Status() != "101" || got.Has("Concert-Priority") || got.Value("X-Kept") != "1" {
			t.Errorf("%s, header %q", got.Line, got.Fields)
		}
	})
}
