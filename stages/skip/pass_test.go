package skip

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
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

func TestPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		q := r.queue(3)
		if pass(r.visit("/queue/status", held(q[2]))) != "" || r.vip {
			t.Error("a pass that nobody paid for")
		}
		r.promote(fmt.Sprintf(`{"id":%d,"payment":"pay_1"}`, q[2].Number))
		if pass(r.visit("/queue/status", held(q[1]))) != "" || pass(r.visit("/queue/status")) != "" {
			t.Error("a pass for somebody else")
		}
		time.Sleep(time.Minute)
		w := r.visit("/queue/status", held(q[1])+"; "+held(q[2])) // of two tickets, one is paid for
		line := w.Header().Get("Set-Cookie")
		if _, attributes, _ := strings.Cut(line, ";"); attributes != " Path=/; HttpOnly; SameSite=Lax; Max-Age=3540" || !r.vip {
			t.Errorf("set as %q", line)
		}
		mine := pass(r.visit("/page", held(q[2])))
		if mine == "" {
			t.Error("a lost answer loses the pass")
		}
		if w := r.visit("/page", mine, held(q[2])); pass(w) != "" || !r.vip {
			t.Errorf("whoever shows the pass gets it again: %v", w.Header())
		}
		if a := r.quote("?ref="+r.ref(q[0]), mine); !a.HasPass {
			t.Errorf("quoted to somebody with a pass: %+v", a)
		}
		if r.visit("/page", cookieName+"=x; "+mine, held(q[2])); !r.vip {
			t.Error("a planted cookie hides the pass")
		}
		if r.visit("/page", mine[:len(mine)-3]+"AAA"); r.vip {
			t.Error("an altered pass is one")
		}
		time.Sleep(time.Hour)
		if r.visit("/page", mine, held(q[2])); r.vip {
			t.Error("a pass outlives its time")
		}
		r.join()
		r.promote(fmt.Sprintf(`{"id":%d,"payment":"pay_2"}`, r.join().Number))
		if st := r.stage.Stats(); st.Owed != 1 || st.Delivered != 2 || st.Promoted != 2 {
			t.Errorf("%+v", st)
		}
	})
}

func TestPassesCanBeOff(t *testing.T) {
	r := newRig(t, func(c *Config) { c.PassTTL = 0 })
	q := r.queue(1)
	if a := r.promote(fmt.Sprintf(`{"id":%d,"payment":"pay_1"}`, q[0].Number)); a.status != 200 || a.PassUntil != "" {
		t.Errorf("%+v", a)
	}
	if pass(r.visit("/page", held(q[0]))) != "" {
		t.Error("a pass was set")
	}
	c := r.stage.settings.Load().Config
	c.PassTTL = time.Hour
	if err := r.stage.Apply(c); err != nil {
		t.Fatal(err)
	}
	q = r.queue(1)
	r.promote(fmt.Sprintf(`{"id":%d,"payment":"pay_2"}`, q[0].Number))
	mine := pass(r.visit("/page", held(q[0])))
	if r.visit("/page", mine, held(q[0])); mine == "" || !r.vip {
		t.Errorf("switched on, the pass %q is none", mine)
	}
	c.PassTTL = 0
	if err := r.stage.Apply(c); err != nil {
		t.Fatal(err)
	}
	if r.visit("/page", mine, held(q[0])); r.vip {
		t.Error("switched off, a pass still counts")
	}
}

func TestPassOverTLS(t *testing.T) {
	r := newRig(t, nil)
	q := r.queue(1)
	r.promote(fmt.Sprintf(`{"id":%d,"payment":"pay_1"}`, q[0].Number))
	req := httptest.NewRequest("GET", "/page", nil)
	req.TLS = new(tls.ConnectionState)
	req.Header.Set("Cookie", held(q[0]))
	w := httptest.NewRecorder()
	r.p.ServeHTTP(w, req)
	if line := w.Header().Get("Set-Cookie"); !strings.Contains(line, "; Secure") {
		t.Errorf("set as %q", line)
	}
}
