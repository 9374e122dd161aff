package blackbox

import (
	"net/http"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/internal/rawtest"
)

// TestWhoDoesNotComeHoldsNothing: a visitor who is told to come and does not,
// but keeps asking, does not keep the slot from the next.
func TestWhoDoesNotComeHoldsNothing(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "1", quick)
	if a := newVisitor(t, p).page("/"); !a.isOrigin() { // pages are short, the line learns
		t.Fatalf("status %d", a.status)
	}
	o.fill(t, p, 1)
	absent, next := newVisitor(t, p).at("203.0.113.1"), newVisitor(t, p).at("203.0.113.2")
	absent.page("/absent")
	next.page("/next")
	o.letGo()
	absent.awaitTurn()
	in := later(func() answer { return next.comeIn("/next") })
	for {
		select {
		case a := <-in:
			if !a.isOrigin() {
				t.Errorf("the next visitor: status %d", a.status)
			}
			// Whoever was passed over is let in when they do come.
			rawtest.Until(t, "the room is free", func() bool { return stats(t, p).Occupancy == 0 })
			if a := absent.page("/absent"); !a.isOrigin() {
				t.Errorf("who comes late: status %d", a.status)
			}
			return
		default:
			absent.status() // it waits as long as it is told to
		}
	}
}

// TestOneBrowserIsOneVisitor: the requests that a browser makes at once, in one
// tab or in two, do not each take a place.
func TestOneBrowserIsOneVisitor(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "1", quick)
	v := newVisitor(t, p).at("203.0.113.9")
	v.page("/")
	o.fill(t, p, 1)
	lines := func(dest, accept string) string {
		return "GET /" + dest + " HTTP/1.1\r\nHost: site.test\r\nSec-Fetch-Dest: " + dest + "\r\nAccept: " + accept + "\r\n" +
			"Cookie: concert_admit=" + v.cookie("concert_admit") + "\r\n" + asClient("203.0.113.9") + "\r\n\r\n"
	}
	var all []*rawtest.Client
	for _, request := range []string{
		lines("document", "text/html"), lines("image", "image/*"), lines("script", "*/*"), lines("style", "text/css"), lines("font", "*/*"), lines("document", "text/html"),
	} {
		c := rawtest.Dial(t, p.Addr)
		c.Send(request)
		all = append(all, c)
	}
	for i, c := range all {
		r := c.ReadResponse("GET")
		if html := strings.HasPrefix(r.Value("Content-Type"), "text/html"); html != (i == 0 || i == 5) {
			t.Errorf("request %d: status %s, Content-Type %q", i, r.Status(), r.Value("Content-Type"))
		}
	}
	if got := stats(t, p).QueueDepth; got != 1 {
		t.Errorf("%d places for one browser, want 1", got)
	}
}

// TestConditionalRequestsInAFullRoom: the waiting page is not the page that a
// browser has, nor a part of it.
func TestConditionalRequestsInAFullRoom(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "1", quick)
	o.fill(t, p, 1)
	for _, header := range []string{"If-None-Match: *", `If-None-Match: "v"`, "If-Modified-Since: Mon, 30 Nov 2099 00:00:00 GMT", "Range: bytes=0-9", `If-Match: "v"`} {
		r := raw(t, p, trusted, "GET / HTTP/1.1", "Host: site.test", "Accept: text/html", header)
		if r.Status() != "200" || !strings.Contains(string(r.Body), "</html>") {
			t.Errorf("%s: status %s, %d bytes", header, r.Status(), len(r.Body))
		}
	}
}

// TestFullLineForThosePresent: when the line is full, whoever is in it keeps
// the place, and made-up tickets are none.
func TestFullLineForThosePresent(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "1", "-max-queue", "2", quick)
	o.fill(t, p, 1)
	a, b := newVisitor(t, p).at("203.0.113.1"), newVisitor(t, p).at("203.0.113.2")
	a.page("/")
	b.page("/")
	for i := range 5 {
		r := get(t, p, "203.0.113.3", "/", "Accept: text/html", "Cookie: room_ticket=made-up-"+itoa(i))
		if r.Status() != "503" || r.Value("Retry-After") == "" || r.Has("Set-Cookie") {
			t.Errorf("made-up ticket: status %s, header %q", r.Status(), r.Fields)
		}
	}
	for i, v := range []*visitor{a, b} {
		if got := v.page("/"); got.status != http.StatusOK || !got.isWaitingPage() || v.status().Position != i+1 {
			t.Errorf("visitor %d: status %d", i+1, got.status)
		}
	}
}

// TestPlacesOfOneClient: with -queue-per-client, one address cannot fill the
// line.
func TestPlacesOfOneClient(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "1", "-queue-per-client", "2", quick)
	o.fill(t, p, 1)
	for i := range 4 {
		r := get(t, p, "203.0.113.9", "/", "Accept: text/html", "User-Agent: browser "+itoa(i))
		if got := r.Status() == "200"; got != (i < 2) {
			t.Errorf("arrival %d: status %s", i+1, r.Status())
		}
	}
	if r := get(t, p, "203.0.113.10", "/", "Accept: text/html"); r.Status() != "200" {
		t.Errorf("somebody else: status %s", r.Status())
	}
}
