package skip

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/pipeline"
)

// person is somebody with a browser: an address, an admission pass and cookies.
type person struct {
	r              *rig
	address, admit string
	cookies        map[string]string
}

// visit asks for a path, keeps the pass that the answer sets, and reports
// whether they count as VIP.
func (p *person) visit(path string) bool {
	req := httptest.NewRequest("GET", path, nil)
	req.RemoteAddr = p.address + ":1234"
	if p.admit != "" {
		req.Header.Set("X-Admit", p.admit)
	}
	for name, value := range p.cookies {
		req.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	w := httptest.NewRecorder()
	p.r.p.ServeHTTP(w, req)
	if c := pass(w); c != "" {
		p.cookies[cookieName] = strings.TrimPrefix(c, cookieName+"=")
		if path == "/page" && !p.r.waits && !strings.Contains(w.Header().Get("Cache-Control"), "private") {
			p.r.t.Errorf("a pass with %v: a cache may give it to others", w.Header())
		}
	}
	return p.r.vip
}

func (p *person) copyTo(address, admit string) *person {
	return &person{p.r, address, admit, map[string]string{cookieName: p.cookies[cookieName]}}
}

// buyer is somebody who has paid for a place, and has the pass.
func buyer(r *rig) (*person, line.Ticket) {
	r.t.Helper()
	t := r.join()
	p := &person{r, "192.0.2.1", "", map[string]string{ticketCookie: fmt.Sprint(t.Number)}}
	r.promote(fmt.Sprintf(`{"id":%d,"payment":"pay_%d"}`, t.Number, t.Number))
	if !p.visit("/queue/status") || p.cookies[cookieName] == "" {
		r.t.Fatal("no pass is given out")
	}
	return p, t
}

// admitAll lets everybody in who waits.
func (r *rig) admitAll(tickets ...line.Ticket) {
	r.t.Helper()
	for _, t := range tickets {
		if err := r.line.Quit(r.t.Context(), time.Now(), t); err != nil {
			r.t.Fatal(err)
		}
	}
}

// TestPassIsBound to whoever bought it, and follows them about.
func TestPassIsBound(t *testing.T) {
	var log bytes.Buffer
	r := newRig(t, func(c *Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	owner, ticket := buyer(r)
	r.admitAll(ticket)
	delete(owner.cookies, ticketCookie) // it ran out
	if !owner.visit("/page") {
		t.Error("the pass is none from where it was bought")
	}
	owner.admit = "owner's admission" // with the first page
	if !owner.visit("/page") {
		t.Error("the pass is none with an admission pass")
	}
	for i := range 5 {
		owner.address = fmt.Sprintf("198.51.100.%d", i+1)
		if !owner.visit("/page") {
			t.Errorf("the pass is none from the network number %d", i+1)
		}
	}
	owner.admit = "" // cookies cleared but for the pass
	if !owner.visit("/queue/status") {
		t.Error("the pass did not follow to the last address")
	}
	for i := range 3 {
		thief := owner.copyTo(fmt.Sprintf("203.0.113.%d", i+1), "a thief's admission")
		if thief.visit("/page") || thief.visit("/queue/status") {
			t.Error("a copy counts")
		}
	}
	if !owner.visit("/page") {
		t.Error("copies took the pass from its owner")
	}
	if got := r.stage.Stats().Shared; got != 3 {
		t.Errorf("%d pages with a copy, want 3", got)
	}
	if n := strings.Count(log.String(), "is used by somebody else"); n != 1 {
		t.Errorf("the log says %d times that the pass is used by others:\n%s", n, log.String())
	}
}

// TestOnePassOnePlace: even whoever has all of the owner's cookies, but for the
// ticket, gets no second place at the front.
func TestOnePassOnePlace(t *testing.T) {
	r := newRig(t, nil)
	r.waits = true
	owner, ticket := buyer(r)
	twin := owner.copyTo(owner.address, "")
	if twin.visit("/page") {
		t.Error("a second browser gets the front while the place that was paid for waits")
	}
	r.admitAll(ticket)
	if !twin.visit("/page") {
		t.Error("once that place is used, the pass counts again")
	}
	// Whichever comes first has it then.
	again := r.join()
	v := &pipeline.Visit{R: httptest.NewRequest("GET", "/page", nil), Class: pipeline.Page, Start: time.Now()}
	v.Client.Key = clientip.KeyOf(netip.MustParseAddr(owner.address))
	v.R.AddCookie(&http.Cookie{Name: cookieName, Value: owner.cookies[cookieName]})
	r.stage.Fronted(v, again)
	for range 2 {
		if twin.visit("/page") {
			t.Error("two places at the front with one pass")
		}
	}
	owner.cookies[ticketCookie] = fmt.Sprint(again.Number)
	if !owner.visit("/page") || !owner.visit("/queue/status") {
		t.Error("whose place it is counts as somebody else")
	}
	r.admitAll(again)
	if !twin.visit("/page") {
		t.Error("the pass does not count after that place is used")
	}
	if got := r.stage.Stats().Shared; got != 3 {
		t.Errorf("%d counted, want 3", got)
	}
}

// TestPassIsDeliveredOnce it has arrived, whoever has the ticket.
func TestPassIsDeliveredOnce(t *testing.T) {
	r := newRig(t, nil)
	owner, ticket := buyer(r)
	lost := &person{r, "192.0.2.1", "", map[string]string{ticketCookie: fmt.Sprint(ticket.Number)}}
	if lost.visit("/page"); lost.cookies[cookieName] == "" {
		t.Error("a lost answer loses the pass")
	}
	owner.visit("/page")
	thief := &person{r, "203.0.113.1", "", map[string]string{ticketCookie: fmt.Sprint(ticket.Number)}}
	if thief.visit("/page"); thief.cookies[cookieName] != "" {
		t.Error("the pass is given out once more")
	}
	if got := r.stage.Stats().Owed; got != 0 {
		t.Errorf("%d are owed", got)
	}
}
