package portal

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/abuse"
	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/history"
	"github.com/andreimerlescu/concert/ipinfo"
	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/line/memory"
	"github.com/andreimerlescu/concert/metrics"
	"github.com/andreimerlescu/concert/persist"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/portal/view"
)

const (
	operatorPass = "operator-password-1"
	viewerPass   = "viewer-password-22"
	adminToken   = "admin-token-0123456789"
	operatorAddr = "127.0.0.1"
)

// program stands for the running Concert; everything but the settings is real.
type program struct {
	cfg     config.Config
	line    line.Line
	rooms   []SiteRoom
	leaving bool
	saveErr error

	act   sync.Mutex // guards edits; held during acts
	edits []Edit

	trail sync.Mutex // guards acts
	acts  []persist.Act
}

func (c *program) Config() *config.Config { return &c.cfg }

func (c *program) Rooms() []SiteRoom { return c.rooms }

func (c *program) Stats() map[string]any {
	stats := map[string]any{"room": "open"}
	for _, g := range counterGroups() {
		for _, n := range g.counters {
			stats[n.name] = 1.5
		}
	}
	return stats
}

func (c *program) Refused() map[string]uint64 { return map[string]uint64{"line-full": 3} }

func (c *program) Settings() Settings {
	all := Settings{Faults: []Fault{}}
	for _, s := range config.Settings() {
		all.Settings = append(all.Settings, Setting{Key: s.Key, Value: encode(s.Text(&c.cfg))})
	}
	return all
}

func (c *program) Edit(_ context.Context, _ persist.By, e Edit) (view.Edited, error) {
	next := c.cfg
	if allow, ok := e.Set["portal_allow"]; ok {
		next.PortalAllow, _ = clientip.ParseTrust(strings.Trim(string(allow), `"`))
	}
	if err := e.Guard(&next); err != nil {
		return view.Edited{}, err
	}
	if _, ok := e.Set["cap"]; ok && string(e.Set["cap"]) == "0" {
		return view.Edited{}, &Problem{http.StatusBadRequest, errors.Join(&config.Problem{Key: "cap", Value: "0", Want: "more"})}
	}
	c.act.Lock()
	defer c.act.Unlock()
	c.edits = append(c.edits, e)
	return view.Edited{DryRun: e.DryRun, Changed: []view.Change{}, Affects: []view.Affected{}, Warnings: []string{}}, nil
}

func (c *program) Act(f func() error) error {
	c.act.Lock()
	defer c.act.Unlock()
	return f()
}

func (c *program) SaveBans(persist.By) error { return c.saveErr }

// Audit is called inside Act and outside.
func (c *program) Audit(by persist.By, a persist.Act) {
	c.trail.Lock()
	defer c.trail.Unlock()
	a.Who, a.Client = by.Who, by.Client
	c.acts = append(c.acts, a)
}

func (c *program) Ticket(text string) (line.Ticket, bool) {
	return parseID(strings.TrimPrefix(text, "ref-"))
}

func (c *program) Leaving() bool { return c.leaving }

// rig is a portal whose requests come as if from a connection.
type rig struct {
	tb testing.TB
	*Portal
	program *program
	line    *memory.Line
	dir     *persist.Dir
}

func newRig(tb testing.TB) *rig { return newRigIn(tb, "") }

func newRigIn(tb testing.TB, dir string) *rig {
	tb.Helper()
	now := time.Now()
	cfg := config.Default()
	r := &rig{tb: tb, program: &program{cfg: *cfg}}
	r.line = memory.New(memory.Options{Settings: line.Settings{
		Policy: line.Policy{Cap: 1}, TTL: 5 * time.Minute, Sweep: time.Minute, FirstPollGrace: 5 * time.Minute,
	}, Start: now})
	r.program.line = r.line
	registry, err := abuse.New(abuse.Config{Enabled: true, Strikes: 20, Window: time.Minute, Cooldown: 5 * time.Minute, MaxCooldown: time.Hour, MaxEntries: 100_000, Allow: trust(tb, "198.51.100.0/28"), Proxies: trust(tb, "127.0.0.1/32")}, now)
	if err != nil {
		tb.Fatal(err)
	}
	registry.Subscribe(func(e abuse.Event) {
		if e.Kind == abuse.Banned {
			_, _ = r.line.RemoveClients(context.Background(), e.At, e.Ban.Client)
		}
	})
	if r.dir, err = persist.Open(dir, persist.Options{}); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = r.dir.Close() })
	info, err := ipinfo.New(ipinfo.Config{})
	if err != nil {
		tb.Fatal(err)
	}
	r.Portal = New(Options{
		Concert: r.program, Line: r.line, Abuse: registry, Info: info, Data: r.dir, Requests: metrics.NewObserver(),
		History: history.New(history.Options{Settings: history.Settings{On: true, Query: true}}),
		Pass:    operatorPass, ViewerPass: viewerPass, Token: adminToken, Listen: "127.0.0.1:8081",
	})
	return r
}

func trust(tb testing.TB, list string) *clientip.Trust {
	tb.Helper()
	t, err := clientip.ParseTrust(list)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// option changes a request before it is sent.
type option func(*http.Request)

func header(name, value string) option { return func(r *http.Request) { r.Header.Set(name, value) } }
func from(addr string) option {
	return func(r *http.Request) { r.RemoteAddr = netip.AddrPortFrom(netip.MustParseAddr(addr), 999).String() }
}
func host(name string) option         { return func(r *http.Request) { r.Host = name } }
func bearer(token string) option      { return header("Authorization", "Bearer "+token) }
func withCookie(c http.Cookie) option { return func(r *http.Request) { r.AddCookie(&c) } }

// do sends a request; a body that starts with { is JSON, another one a form.
func (r *rig) do(method, target, body string, options ...option) *httptest.ResponseRecorder {
	r.tb.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	q := httptest.NewRequest(method, target, reader)
	q.Host, q.RemoteAddr = "127.0.0.1:8081", operatorAddr+":999"
	if body != "" && body[0] != '{' {
		q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, o := range options {
		o(q)
	}
	w := httptest.NewRecorder()
	r.ServeHTTP(w, q)
	return w
}

// signed is somebody who is signed in.
type signed struct {
	*rig
	cookie, browser http.Cookie
	csrf            string
}

func (r *rig) signIn(pass string, options ...option) *signed {
	r.tb.Helper()
	w := r.do("POST", "/login", url.Values{"pass": {pass}}.Encode(), options...)
	s := &signed{rig: r}
	for _, c := range w.Result().Cookies() {
		switch c.Name {
		case cookieName:
			s.cookie = *c
		case browserCookie:
			s.browser = *c
		}
	}
	if w.Code != http.StatusSeeOther || s.cookie.Value == "" {
		r.tb.Fatalf("sign-in: %d %s", w.Code, w.Body)
	}
	found, ok := r.sessions.find(s.cookie.Value, time.Now())
	if !ok {
		r.tb.Fatal("the session is not known")
	}
	s.csrf = r.sessions.csrf(&found)
	return s
}

// call sends a request of the session, with its token.
func (s *signed) call(method, target, body string, options ...option) *httptest.ResponseRecorder {
	s.tb.Helper()
	return s.do(method, target, body, append([]option{withCookie(s.cookie), header(csrfHeader, s.csrf)}, options...)...)
}

// want calls, and fails unless the status is that and the answer has all parts.
func (s *signed) want(status int, method, target, body string, parts ...string) string {
	s.tb.Helper()
	w := s.call(method, target, body)
	if w.Code != status {
		s.tb.Fatalf("%s %s %s: %d %s, want %d", method, target, body, w.Code, w.Body, status)
	}
	for _, part := range parts {
		if !strings.Contains(w.Body.String(), part) {
			s.tb.Errorf("%s %s: %s lacks %s", method, target, w.Body, part)
		}
	}
	return w.Body.String()
}

// queueUp fills the one slot and has some visitors wait.
func (r *rig) queueUp(clients ...string) (ids []string) {
	r.tb.Helper()
	ctx, now := context.Background(), time.Now()
	if r.line.Stats(now).InFlight == 0 {
		if d, err := r.line.Enter(ctx, now, line.Entry{}); err != nil || d.Verdict != line.Admitted {
			r.tb.Fatal("the slot is not free", err)
		}
	}
	for _, client := range clients {
		a := netip.MustParseAddr(client)
		d, err := r.line.Enter(ctx, now, line.Entry{Client: clientip.KeyOf(a)})
		if err != nil || d.Verdict != line.Waiting {
			r.tb.Fatal("no place", d, err)
		}
		v := &pipeline.Visit{R: httptest.NewRequest("GET", "/shop?of="+client, nil)}
		v.R.Header.Set("User-Agent", "Browser of "+client)
		r.Placed(v, d.Place.Ticket)
		ids = append(ids, idOf(d.Place.Ticket.Number))
	}
	return ids
}

// whats are the acts in the trail.
func (r *rig) whats() string {
	var all []string
	for _, a := range r.program.acts {
		all = append(all, a.What)
	}
	return strings.Join(slices.Compact(all), " ")
}
