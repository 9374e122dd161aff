package blackbox

import (
	"net/http"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/internal/rawtest"
)

// TestReloadKeepsEveryPlace: neither one's own reloads nor the departure of
// somebody else shuffles the line. Invariant 4.
func TestReloadKeepsEveryPlace(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "1", quick)
	o.fill(t, p, 1)
	var line []*visitor
	for _, address := range []string{"203.0.113.1", "203.0.113.2", "203.0.113.3"} {
		v := newVisitor(t, p).at(address)
		v.page("/")
		line = append(line, v)
	}
	first, leaver, last := line[0], line[1], line[2]
	ticket := first.cookie("room_ticket")
	for range 20 {
		if a := first.page("/"); !strings.Contains(a.body, `id="position">1<`) {
			t.Fatalf("invariant 4: after a reload the page shows another place:\n%s", a.body)
		}
	}
	if first.cookie("room_ticket") != ticket {
		t.Error("invariant 4: reloading changed the ticket")
	}
	for i, v := range line {
		if got := v.status().Position; got != i+1 {
			t.Errorf("invariant 4: place %d, want %d", got, i+1)
		}
	}
	if a := leaver.do(http.MethodPost, "/queue/leave", "application/json", ""); a.status >= 300 {
		t.Fatalf("leave: status %d, body %q", a.status, a.body)
	}
	if got := []int{first.status().Position, last.status().Position}; got[0] != 1 || got[1] != 2 {
		t.Errorf("invariant 4: places after one left: %v, want [1 2]", got)
	}
	if n := stats(t, p).QueueDepth; n != 2 {
		t.Errorf("%d places in line, want 2", n)
	}
}

// TestTicketAdmitsOnce: one wait lets in one request, however often its ticket
// is shown. Invariant 1.
func TestTicketAdmitsOnce(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "1", quick)
	o.fill(t, p, 1)
	b, c := newVisitor(t, p).at("203.0.113.1"), newVisitor(t, p).at("203.0.113.2")
	b.page("/hold/b")
	c.page("/hold/c")
	ticket := b.cookie("room_ticket")
	o.letGo()
	idle(t, p)
	b.awaitTurn()

	shown := func(address string) rawtest.Response {
		return raw(t, p, "127.0.0.1", "GET /hold/b HTTP/1.1", "Host: site.test", "Accept: text/html",
			"X-Forwarded-For: "+address, "Cookie: room_ticket="+ticket)
	}
	in := rawtest.Dial(t, p.Addr)
	in.Send("GET /hold/b HTTP/1.1\r\nHost: site.test\r\nAccept: text/html\r\nX-Forwarded-For: 203.0.113.1\r\nCookie: room_ticket=" + ticket + "\r\n\r\n")
	rawtest.Until(t, "the visitor is in", func() bool { return countLines(o, "GET /hold/b HTTP/1.1") == 1 })
	for _, address := range []string{"203.0.113.1", "203.0.113.1", "203.0.113.9"} {
		r := shown(address)
		if r.Status() != "200" || strings.Contains(string(r.Body), originMark) || strings.Contains(string(r.Body), `id="position">1<`) {
			t.Errorf("replayed from %s: status %s, body %q; want a place at the back", address, r.Status(), r.Body)
		}
	}
	if n := countLines(o, "GET /hold/b HTTP/1.1"); n != 1 {
		t.Errorf("invariant 1: one ticket let in %d requests", n)
	}
	if got := c.status().Position; got != 1 {
		t.Errorf("who was next stands at %d now", got)
	}
	o.letGo()
	c.awaitTurn()
}

// TestTicketRace shows one ticket with many requests at the same moment.
// Invariant 1.
func TestTicketRace(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "1", quick)
	o.fill(t, p, 1)
	b := newVisitor(t, p)
	b.page("/hold/b")
	ticket := b.cookie("room_ticket")
	o.letGo()
	idle(t, p)
	b.awaitTurn()
	const n = 10
	var racers []*rawtest.Client
	for range n {
		c := rawtest.Dial(t, p.Addr)
		c.Send("GET /hold/b HTTP/1.1\r\nHost: site.test\r\nAccept: text/html\r\nCookie: room_ticket=" + ticket + "\r\n\r\n")
		racers = append(racers, c)
	}
	// Nine are answered while the origin still holds the one that got in.
	answers := make(chan string, n)
	for _, c := range racers {
		go func() {
			body := "no answer"
			defer func() { answers <- body }()
			body = string(c.ReadResponse("GET").Body)
		}()
	}
	for range n - 1 {
		if body := <-answers; strings.Contains(body, originMark) {
			t.Error("invariant 1: a second request came in with the same ticket")
		}
	}
	rawtest.Until(t, "one is at the origin", func() bool { return countLines(o, "GET /hold/b HTTP/1.1") > 0 })
	if got := countLines(o, "GET /hold/b HTTP/1.1"); got > 1 {
		t.Errorf("invariant 1: one ticket let in %d requests", got)
	}
	o.letGo()
	if body := <-answers; !strings.Contains(body, originMark) {
		t.Errorf("the one that got in was answered %q", body)
	}
	// The nine of one visitor share one new place.
	if depth := stats(t, p).QueueDepth; depth != 1 {
		t.Errorf("%d places in line for one visitor, want 1", depth)
	}
}

// TestTwinCookies: a stale cookie of the same name shadows nothing.
func TestTwinCookies(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "1", quick)
	o.fill(t, p, 1)
	v := newVisitor(t, p)
	v.page("/")
	mine := v.cookie("room_ticket")
	for _, cookie := range []string{"room_ticket=bogus; room_ticket=" + mine, "room_ticket=" + mine + "; room_ticket=bogus"} {
		for range 5 {
			r := raw(t, p, "127.0.0.1", "GET / HTTP/1.1", "Host: site.test", "Accept: text/html", "Cookie: "+cookie)
			if !strings.Contains(string(r.Body), `id="position">1<`) {
				t.Fatalf("with %q: status %s, body %q; want place 1", cookie, r.Status(), r.Body)
			}
		}
	}
	if depth := stats(t, p).QueueDepth; depth != 1 {
		t.Errorf("%d places in line, want 1", depth)
	}
}
