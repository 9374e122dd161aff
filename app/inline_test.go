package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/line"
)

const checkoutRoom = `[{"id":"checkout","name":"Till","paths":["/checkout/*"],"cap":1,"message":"Cards only."},` +
	`{"id":"tickets","hosts":["tickets.example"],"cap":2}]`

// visitor is a browser with its cookies.
type visitor struct {
	app     *App
	host    string
	address string
	cookies map[string]string
}

func newVisitor(a *App, address string) *visitor {
	return &visitor{a, "shop.example", address, map[string]string{}}
}

// get asks as a browser does, and keeps the cookies of the answer.
func (b *visitor) get(target string, header ...string) *httptest.ResponseRecorder {
	return b.send("GET", target, header...)
}

func (b *visitor) send(method, target string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	r.Host, r.RemoteAddr = b.host, b.address+":4711"
	r.Header.Set("Accept", "text/html")
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	b.app.Handler().ServeHTTP(w, r)
	for _, c := range w.Result().Cookies() {
		if b.cookies[c.Name] = c.Value; c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		}
	}
	return w
}

// takeSlots takes n slots of a line.
func takeSlots(t *testing.T, l line.Line, n int) (slots []line.Slot) {
	t.Helper()
	for range n {
		d, err := l.Enter(t.Context(), time.Now(), line.Entry{NoPlace: true})
		if err != nil || d.Verdict != line.Admitted {
			t.Fatalf("take a slot: %v %v", d.Verdict, err)
		}
		slots = append(slots, d.Slot)
	}
	return slots
}

// TestRoomsHaveLinesOfTheirOwn: one full room keeps nobody out of another, and
// one visitor can wait in several.
func TestRoomsHaveLinesOfTheirOwn(t *testing.T) {
	a := newLive(t, "", "-cap=1", "-door-max=0", "-rooms", checkoutRoom)
	till, stage := a.inline.get("checkout"), a.inline.get("tickets")
	takeSlots(t, till.line, 1)
	b := newVisitor(a, "203.0.113.1")
	w := b.get("/checkout/pay")
	if page := w.Body.String(); !strings.Contains(page, `data-status="/queue/status?room=checkout&amp;"`) ||
		!strings.Contains(page, `action="/queue/leave?room=checkout"`) || !strings.Contains(page, "Cards only.") || !strings.Contains(page, "Till") {
		t.Errorf("not the room's page: %d %s", w.Code, page)
	}
	if b.cookies["room_ticket.checkout"] == "" || b.cookies["room_ticket"] != "" {
		t.Errorf("cookies %v", b.cookies)
	}
	if w := b.get("/"); w.Code != 200 || w.Body.Len() != 0 {
		t.Errorf("the default room is free: %d %s", w.Code, w.Body)
	}
	takeSlots(t, a.line, 1)
	if w := b.get("/"); !strings.Contains(w.Body.String(), `data-status="/queue/status?"`) {
		t.Errorf("not the default room's page: %s", w.Body)
	}
	takeSlots(t, stage.line, 2)
	b.host = "tickets.example"
	b.get("/")
	for name, l := range map[string]line.Line{"default": a.line, "checkout": till.line, "tickets": stage.line} {
		if st := l.Stats(time.Now()); st.Live != 1 {
			t.Errorf("%d wait in room %s, want 1", st.Live, name)
		}
	}
	var s struct {
		Rooms []RoomStats `json:"rooms"`
	}
	if err := json.Unmarshal(ask(a, "GET", "/_room/stats", "", "").Body.Bytes(), &s); err != nil || len(s.Rooms) != 2 ||
		s.Rooms[0].ID != "checkout" || s.Rooms[0].QueueDepth != 1 || s.Rooms[0].Occupancy != 1 || s.Rooms[1].Cap != 2 {
		t.Errorf("stats: %+v %v", s.Rooms, err)
	}
	if body := ask(a, "GET", "/_room/metrics", "", "").Body.String(); !strings.Contains(body, `concert_room_queue_depth{room="checkout"} 1`) {
		t.Errorf("the scrape lacks the room's line:\n%s", body)
	}
}

// TestPollsFindTheirRoom: by the address on the page, the page's own address, or
// what the visitor holds.
func TestPollsFindTheirRoom(t *testing.T) {
	a := newLive(t, "", "-cap=1", "-door-max=0", "-rooms", checkoutRoom)
	takeSlots(t, a.inline.get("checkout").line, 1)
	takeSlots(t, a.line, 1)
	b, other := newVisitor(a, "203.0.113.1"), newVisitor(a, "203.0.113.2")
	other.get("/checkout/pay")
	b.get("/checkout/pay")
	position := func(target string, header ...string) string {
		t.Helper()
		var s struct {
			Position int  `json:"position"`
			Ready    bool `json:"ready"`
			Cookies  bool `json:"cookies_required"`
		}
		w := b.get(target, header...)
		if err := json.Unmarshal(w.Body.Bytes(), &s); err != nil {
			t.Fatalf("%s: %d %s", target, w.Code, w.Body)
		}
		return fmt.Sprint(s.Position, s.Ready, s.Cookies)
	}
	for _, c := range [][]string{
		{"/queue/status?room=checkout&seen=2.5"},
		{"/queue/status?seen=2.5&room=checkout"},
		{"/queue/status", "Referer", "http://shop.example/checkout/pay?x=1"},
		{"/queue/status"}, // holds a ticket of this room only
	} {
		if got := position(c[0], c[1:]...); got != "2 false false" {
			t.Errorf("%q: %s", c, got)
		}
	}
	b.get("/") // now waits in the default room as well
	for _, c := range [][]string{
		{"/queue/status"}, {"/queue/status?room="}, {"/queue/status", "Referer", "http://shop.example/x"},
		{"/queue/status", "Referer", "http://elsewhere.example/checkout/pay"},
	} {
		if got := position(c[0], c[1:]...); got != "1 false false" {
			t.Errorf("%q: %s", c, got)
		}
	}
	if got := position("/queue/status?room=tickets"); got != "0 false true" {
		t.Errorf("in a room where they do not wait: %s", got)
	}
	for _, id := range []string{"typo", "checkout%20", "Checkout", "..", "x;y"} {
		if w := b.get("/queue/status?room=" + id); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "There is no such waiting room") {
			t.Errorf("in room %q, which there never was: %d %s", id, w.Code, w.Body)
		}
		if w := b.send("POST", "/queue/leave?room="+id); w.Code != http.StatusNotFound {
			t.Errorf("leave room %q, which there never was: %d", id, w.Code)
		}
	}
	b.cookies["room_ticket.gone"] = "1" // of before a restart that took the room out
	if got := position("/queue/status?room=gone"); got != "0 true false" {
		t.Errorf("in a room that is no longer there: %s", got)
	}
	if w := b.send("POST", "/queue/leave?room=gone"); w.Code != http.StatusSeeOther || b.cookies["room_ticket"] == "" || a.line.Stats(time.Now()).Live != 1 {
		t.Errorf("leave a room that is gone: %d %v", w.Code, b.cookies)
	}
	if w := b.send("POST", "/queue/leave?room=checkout"); w.Code != http.StatusSeeOther || b.cookies["room_ticket.checkout"] != "" {
		t.Errorf("leave: %d %v", w.Code, b.cookies)
	}
	if n, m := a.inline.get("checkout").line.Stats(time.Now()).Live, a.line.Stats(time.Now()).Live; n != 1 || m != 1 {
		t.Errorf("%d and %d wait after one left the room, want 1 and 1", n, m)
	}
	takeSlots(t, a.inline.get("tickets").line, 2)
	c := newVisitor(a, "203.0.113.7")
	c.host = "tickets.example"
	c.get("/")
	if w := c.get("/queue/status"); !strings.Contains(w.Body.String(), `"position":1`) {
		t.Errorf("on a host that is all a room's: %s", w.Body)
	}
	w := b.get("/checkout/pay", "Accept", "application/json")
	if body := w.Body.String(); !strings.Contains(body, `keep the room_ticket.checkout cookie`) || !strings.Contains(body, `"status_url":"/queue/status?room=checkout"`) {
		t.Errorf("to programs: %s", body)
	}
}

// TestTicketsAndPassesAreOfTheirRoom: what one room gave opens nothing in
// another, under whatever name it is shown.
func TestTicketsAndPassesAreOfTheirRoom(t *testing.T) {
	a := newLive(t, "", "-cap=9", "-door-max=0", "-assets=/css/*,/checkout/img/*", "-rooms", checkoutRoom)
	b := newVisitor(a, "203.0.113.1")
	b.get("/")
	if b.get("/checkout/pay"); b.cookies["concert_admit"] == "" || b.cookies["concert_admit.checkout"] == "" {
		t.Fatalf("passes: %v", b.cookies)
	}
	shop, till := b.cookies["concert_admit"], b.cookies["concert_admit.checkout"]
	status := func(target, host, name, value string) int {
		c := newVisitor(a, "203.0.113.2")
		c.host, c.cookies = host, map[string]string{name: value}
		return c.get(target).Code
	}
	for _, c := range []struct {
		target, host, name, value string
		want                      int
	}{
		{"/css/a.css", "shop.example", "concert_admit", shop, 200},
		{"/css/a.css", "shop.example", "concert_admit.checkout", till, 200}, // the site's own, for its page
		{"/checkout/img/a.png", "shop.example", "concert_admit.checkout", till, 200},
		{"/checkout/img/a.png", "shop.example", "concert_admit", shop, 403},
		{"/checkout/img/a.png", "shop.example", "concert_admit.checkout", shop, 403},
		{"/css/a.css", "shop.example", "concert_admit", till, 403},
		{"/css/a.css", "tickets.example", "concert_admit", shop, 403},
		{"/css/a.css", "tickets.example", "concert_admit.tickets", till, 403},
		{"/css/a.css", "tickets.example", "concert_admit.checkout", till, 403},
	} {
		if got := status(c.target, c.host, c.name, c.value); got != c.want {
			t.Errorf("%s%s with %s: %d, want %d", c.host, c.target, c.name, got, c.want)
		}
	}
	takeSlots(t, a.inline.get("checkout").line, 1)
	takeSlots(t, a.line, 9)
	b.get("/checkout/pay")
	for range 3 { // others, behind
		newVisitor(a, "203.0.113.3").get("/")
	}
	thief := newVisitor(a, "203.0.113.4")
	thief.cookies["room_ticket"] = b.cookies["room_ticket.checkout"]
	if w := thief.get("/", "Accept", "application/json"); !strings.Contains(w.Body.String(), `"position":4`) {
		t.Errorf("a ticket of another room gave a place: %s", w.Body)
	}
}

// TestAccessLogNamesTheRoom where there is one.
func TestAccessLogNamesTheRoom(t *testing.T) {
	var out bytes.Buffer
	a := newLive(t, "", "-access-log=true", "-rooms", checkoutRoom)
	a.options.AccessLog = slog.New(slog.NewTextHandler(&out, nil))
	changeRooms(t, a, checkoutRoom)
	b := newVisitor(a, "203.0.113.1")
	b.get("/")
	b.get("/checkout/pay")
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) < 2 || strings.Contains(lines[len(lines)-2], "room=") || !strings.Contains(lines[len(lines)-1], "room=checkout") {
		t.Errorf("%s", out.String())
	}
}
