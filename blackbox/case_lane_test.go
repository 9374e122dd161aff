package blackbox

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/blackbox/launch"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// ranking is an origin that ranks whoever asks for /rank?<header value>, and
// otherwise holds and answers as origin does.
func ranking(t *testing.T) *origin {
	t.Helper()
	return newOriginWith(t, func(r *rawtest.Request) string {
		page := okPage(r)
		if _, rank, ok := strings.Cut(strings.Split(r.Line, " ")[1], "/rank?"); ok {
			page = strings.Replace(page, "\r\n", "\r\nConcert-Priority: "+strings.ReplaceAll(rank, "+", " ")+"\r\n", 1)
		}
		return page
	})
}

// ranked returns a visitor with that rank, from an address of their own.
func ranked(t *testing.T, p *launch.Process, address, rank string) *visitor {
	t.Helper()
	v := newVisitor(t, p).at(address)
	if a := v.page("/rank?" + rank); !a.isOrigin() || a.header.Get("Concert-Priority") != "" {
		t.Fatalf("rank %s: status %d, header %v", rank, a.status, a.header)
	}
	idle(t, p)
	return v
}

// laneFigures are what the tests read of the lane in /_room/stats.
type laneFigures struct {
	Waiting  int `json:"priority_lane_waiting"`
	InFlight int `json:"priority_lane_in_flight"`
}

func lane(t *testing.T, p *launch.Process) laneFigures {
	t.Helper()
	var f laneFigures
	_, body := call(t, http.MethodGet, p.URL+"/_room/stats", "", "")
	if err := json.Unmarshal([]byte(body), &f); err != nil || !strings.Contains(body, `"priority_lane_waiting"`) {
		t.Fatalf("stats without the lane: %v\n%s", err, body)
	}
	return f
}

// TestRanksInAFullRoom: from the lane's rank on, visitors do not queue; forms
// of the admitted do not either.
func TestRanksInAFullRoom(t *testing.T) {
	o := ranking(t)
	p := start(t, o.Addr(), "-cap", "1", "-priority-cap", "1", quick)
	staff, member, plain := ranked(t, p, "203.0.113.1", "staff"), ranked(t, p, "203.0.113.2", "member"), newVisitor(t, p).at("203.0.113.3")
	plain.page("/")
	idle(t, p)
	lowered := ranked(t, p, "203.0.113.4", "staff")
	old := lowered.cookie("concert_priority")
	if lowered.page("/rank?guest"); lowered.cookie("concert_priority") != "" {
		t.Error("guest does not clear the rank")
	}
	o.fill(t, p, 1)
	for name, tt := range map[string]struct {
		a      answer
		origin bool
	}{
		"staff":         {staff.page("/a"), true},
		"member":        {member.page("/a"), false},
		"guest":         {plain.page("/a"), false},
		"guest's form":  {plain.do(http.MethodPost, "/order", "text/html", "x=1"), true},
		"staff's form":  {staff.do(http.MethodPost, "/order", "text/html", "x=1"), true},
		"lowered staff": {lowered.page("/a"), false},
	} {
		if tt.a.isOrigin() != tt.origin {
			t.Errorf("%s: status %d, want to be let in: %v", name, tt.a.status, tt.origin)
		}
	}
	// An older grant of the same pass, shown again, is worth nothing.
	r := get(t, p, "203.0.113.4", "/a", "Accept: text/html", "Cookie: concert_admit="+lowered.cookie("concert_admit")+"; concert_priority="+old)
	if strings.Contains(string(r.Body), originMark) {
		t.Error("a rank that was taken back still skips the line")
	}
	// Neither is one on another pass.
	r = get(t, p, "203.0.113.5", "/a", "Accept: text/html", "Cookie: concert_admit="+plain.cookie("concert_admit")+"; concert_priority="+staff.cookie("concert_priority"))
	if strings.Contains(string(r.Body), originMark) {
		t.Error("somebody else's rank skips the line")
	}
	o.sawNoCookie(t, "concert_")
}

// TestFormsOfEveryRankInAFullLane: nobody's form is swallowed by the waiting
// page, and least of all a customer's.
func TestFormsOfEveryRankInAFullLane(t *testing.T) {
	o := ranking(t)
	p := start(t, o.Addr(), "-cap", "1", "-priority-cap", "1", "-priority-wait", "0", quick)
	var visitors []*visitor
	ranks := []string{"guest", "member", "prospect", "customer", "subscriber", "checkout", "staff"}
	for i, rank := range ranks {
		visitors = append(visitors, ranked(t, p, "203.0.113."+itoa(i+1), rank))
	}
	blocker := ranked(t, p, "203.0.113.20", "staff")
	o.fill(t, p, 1)
	held := later(func() answer { return blocker.page("/hold/lane") })
	rawtest.Until(t, "the lane is full", func() bool { return countLines(o, "GET /hold/lane HTTP/1.1") == 1 })
	for i, v := range visitors {
		a := v.do(http.MethodPost, "/order", "text/html", "item=1")
		if a.status != 503 || a.isWaitingPage() || !strings.Contains(a.body, "not sent") || a.header.Get("Retry-After") == "" {
			t.Errorf("%s: status %d; want 503 that says nothing was sent", ranks[i], a.status)
		}
		checkUncached(t, a)
		b := v.do(http.MethodPost, "/order", "application/json", "item=1")
		if b.status != 503 || !strings.Contains(b.body, `"submitted":false`) {
			t.Errorf("%s, program: status %d, body %q", ranks[i], b.status, b.body)
		}
	}
	if n := countLines(o, "POST /order HTTP/1.1"); n != 0 {
		t.Errorf("%d forms reached the origin", n)
	}
	o.letGo()
	o.letGo()
	<-held
}

// TestLeavingTheLane: whoever leaves while waiting in the lane is not sent on,
// and the slot goes to the next.
func TestLeavingTheLane(t *testing.T) {
	o := ranking(t)
	p := start(t, o.Addr(), "-cap", "1", "-priority-cap", "1", "-priority-wait", "1m", quick)
	blocker, leaver, next := ranked(t, p, "203.0.113.1", "staff"), ranked(t, p, "203.0.113.2", "staff"), ranked(t, p, "203.0.113.3", "customer")
	o.fill(t, p, 1)
	held := later(func() answer { return blocker.page("/hold/lane") })
	rawtest.Until(t, "the lane is full", func() bool { return lane(t, p).InFlight == 1 })
	cookies := fmt.Sprintf("Cookie: concert_admit=%s; concert_priority=%s\r\n", leaver.cookie("concert_admit"), leaver.cookie("concert_priority"))
	page, form := rawtest.Dial(t, p.Addr), rawtest.Dial(t, p.Addr)
	page.Send("GET /left HTTP/1.1\r\nHost: site.test\r\n" + cookies + "\r\n")
	form.Send("POST /left HTTP/1.1\r\nHost: site.test\r\nContent-Length: 3\r\n" + cookies + "\r\nx=1")
	rawtest.Until(t, "one or two wait", func() bool { return lane(t, p).Waiting >= 1 })
	waits := later(func() answer { return next.page("/next") })
	rawtest.Until(t, "the next waits too", func() bool { return lane(t, p).Waiting >= 2 })
	page.Reset()
	form.Reset()
	rawtest.Until(t, "those who left are gone", func() bool { return lane(t, p).Waiting == 1 })
	// The page slot is still held; the lane's slot is freed.
	o.letGo()
	o.letGo()
	if a := <-waits; !a.isOrigin() {
		t.Errorf("the next in the lane: status %d", a.status)
	}
	<-held
	for _, line := range o.lines() {
		if strings.Contains(line, "/left") {
			t.Errorf("the origin got %q of somebody who left", line)
		}
	}
}

// TestOddGrants: a rank comes from a page's header alone, and odd values change
// nothing.
func TestOddGrants(t *testing.T) {
	o := ranking(t)
	p := start(t, o.Addr(), "-cap", "5", "-bypass", "/hook/*")
	for _, tt := range []struct {
		path    string
		granted bool
		maxAge  string
	}{
		{"/rank?staff", true, "28800"}, {"/rank?Checkout;+ttl=30m", true, "1800"}, {"/rank?customer;+ttl=5", true, "60"},
		{"/rank?customer;+ttl=99999999999999999999", true, "86400"}, {"/rank?customer;+ttl=9999h", true, "86400"},
		{"/rank?king", false, ""}, {"/rank?", false, ""}, {"/rank?customer;+ttl=soon", false, ""}, {"/hook/rank?staff", false, ""},
	} {
		v := newVisitor(t, p)
		a := v.page(tt.path)
		var grant string
		for _, line := range a.header.Values("Set-Cookie") {
			if strings.HasPrefix(line, "concert_priority=") && !strings.HasPrefix(line, "concert_priority=;") {
				grant = line
			}
		}
		if (grant != "") != tt.granted || !strings.Contains(grant, tt.maxAge) || a.header.Get("Concert-Priority") != "" {
			t.Errorf("%s: Set-Cookie %q, Concert-Priority %q; want granted: %v for %s s", tt.path, grant, a.header.Get("Concert-Priority"), tt.granted, tt.maxAge)
		}
		if tt.granted && (!strings.Contains(grant, "HttpOnly") || !strings.Contains(grant, "SameSite=Lax")) {
			t.Errorf("%s: the cookie is %q", tt.path, grant)
		}
	}
}
