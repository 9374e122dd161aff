package ban_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/abuse"
	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/line/memory"
	"github.com/andreimerlescu/concert/paths"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/signed"
	"github.com/andreimerlescu/concert/stages/assets"
	"github.com/andreimerlescu/concert/stages/classify"
	"github.com/andreimerlescu/concert/stages/operations"
	"github.com/andreimerlescu/concert/stages/pass"
	"github.com/andreimerlescu/concert/stages/queue"
	"github.com/andreimerlescu/concert/stages/stream"
)

// house is the ban stage before all the others, as the program puts them, with
// one page slot, and one asset slot for each pass.
type house struct {
	t        *testing.T
	registry *abuse.Registry
	p        *pipeline.Pipeline
	held     chan struct{} // a request for a path that begins with /hold is at the origin
	free     chan struct{} // closed: such requests end
	wg       sync.WaitGroup
	late     atomic.Bool // the line's clock is ten minutes ahead
}

// Serve implements pipeline.Origin.
func (h *house) Serve(v *pipeline.Visit) error {
	if strings.Contains(v.Path.Clean, "/hold") {
		h.held <- struct{}{}
		<-h.free
	}
	return origin{}.Serve(v)
}

func keyring(t *testing.T, secret, purpose string) *signed.Keyring {
	t.Helper()
	k, err := signed.NewKeyring([][]byte{bytes.Repeat([]byte(secret), signed.MinSecret)}, purpose)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// newHouse opens a house whose tokens are signed with secret; it is closed with
// the test.
func newHouse(t *testing.T, secret, adminToken string) *house {
	t.Helper()
	h := &house{t: t, registry: registry(t, nil), held: make(chan struct{}), free: make(chan struct{})}
	t.Cleanup(func() {
		close(h.free)
		h.wg.Wait()
	})
	h.p = build(t, banStage(t, h.registry), h, h.stages(secret, adminToken)...)
	return h
}

func (h *house) stages(secret, adminToken string) []pipeline.Stage {
	h.t.Helper()
	table, err := paths.Build(
		paths.List[pipeline.Class]{Name: "-assets", Entries: "/css/*", Value: pipeline.Asset},
		paths.List[pipeline.Class]{Name: "-stream-paths", Entries: "/ws", Value: pipeline.Stream},
	)
	must(h.t, err)
	c, err := classify.New(classify.Config{Table: table})
	must(h.t, err)
	p, err := pass.New(pass.Config{Keyring: keyring(h.t, secret, pass.Purpose), TTL: 10 * time.Minute})
	must(h.t, err)
	settings := line.Settings{Policy: line.Policy{Cap: 1}, TTL: 5 * time.Minute, FirstPollGrace: 30 * time.Second, Sweep: 36 * time.Second}
	q, err := queue.New(queue.Config{
		Line:    memory.New(memory.Options{Settings: settings, Start: time.Now()}),
		Tickets: keyring(h.t, secret, queue.TicketPurpose), TicketTTL: 5 * time.Minute, APIJSON: true, RetryAfter: 5 * time.Second,
		Now: func() time.Time {
			if h.late.Load() {
				return time.Now().Add(10 * time.Minute)
			}
			return time.Now()
		},
	})
	must(h.t, err)
	a, err := assets.New(assets.Config{Caps: assets.Caps{UserH1: 1, UserH2: 1, Global: 2}, IdleTTL: time.Minute})
	must(h.t, err)
	s, err := stream.New(stream.Config{Cap: 1})
	must(h.t, err)
	o, err := operations.New(operations.Config{Token: adminToken, Routes: []operations.Route{
		{Path: "/_room/abuse", Methods: []string{"GET"}, Admin: true, Serve: func(v *pipeline.Visit) { operations.WriteText(v, 200, "ok") }},
	}})
	must(h.t, err)
	return []pipeline.Stage{c, o, p, q, a, s}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// hold keeps a request at the origin until the test ends.
func (h *house) hold(r *http.Request) {
	r.RemoteAddr = "198.51.100.1:1"
	h.wg.Go(func() { serve(h.p, r) })
	<-h.held
}

// cookieOf returns a cookie that a response sets, as a request sends it.
func cookieOf(w *httptest.ResponseRecorder, name string) string {
	for _, c := range w.Result().Cookies() {
		if c.Name == name {
			return name + "=" + c.Value
		}
	}
	return ""
}

// newPass lets a visitor in who is somebody else, and returns the pass.
func (h *house) newPass() string {
	r := request("GET", "/")
	r.RemoteAddr = "198.51.100.2:1"
	c := cookieOf(serve(h.p, r), pass.CookieName)
	if c == "" {
		h.t.Fatal("no pass was issued")
	}
	return c
}

// tamper changes the last character but one of a token.
func tamper(cookie string) string {
	b := []byte(cookie)
	b[len(b)-2] ^= 1
	return string(b)
}

// acts sends the same request until the stranger is banned, and returns how
// many it took; most is how often to try.
func (h *house) acts(most int, make func() *http.Request, status int) int {
	h.t.Helper()
	for n := 1; n <= most; n++ {
		if w := serve(h.p, make()); w.Code != status {
			h.t.Fatalf("act %d is answered %d, want %d", n, w.Code, status)
		}
		if w := serve(h.p, request("GET", "/_room/healthz")); w.Code == 429 {
			return n
		}
	}
	return 0
}

// The table of strikes: with 20 to a ban, acts of weight 5 ban at the fourth
// and acts of weight 1 at the twentieth.
func TestWhatEarnsStrikes(t *testing.T) {
	f := func(name string, want, status int, prepare func(h *house) func() *http.Request) {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, "k", "the admin token")
			if got := h.acts(30, prepare(h), status); got != want {
				t.Errorf("banned at act %d, want %d", got, want)
			}
		})
	}
	forged := func(target string) func(h *house) func() *http.Request {
		return func(h *house) func() *http.Request {
			cookie := tamper(h.newPass())
			return func() *http.Request { return request("GET", target, "Cookie", cookie) }
		}
	}
	f("forged pass on a page", 4, 200, forged("/"))
	f("forged pass on an asset", 4, 403, forged("/css/a.css"))
	f("forged pass on a stream", 4, 403, forged("/ws"))
	n := 0
	f("wrong admin token, under other addresses", 4, 401, func(*house) func() *http.Request {
		return func() *http.Request {
			n++
			return request("GET", "/_room/abuse", "Authorization", "Bearer the admin token"+string(rune('a'+n)),
				"X-Forwarded-For", fmt.Sprintf("192.0.2.%d", n))
		}
	})
	f("admin token of another scheme", 4, 401, func(*house) func() *http.Request {
		return func() *http.Request { return request("GET", "/_room/abuse", "Authorization", "Basic x") }
	})
	f("exhausted pool of a pass", 20, 429, func(h *house) func() *http.Request {
		cookie := h.newPass()
		h.hold(request("GET", "/css/hold.css", "Cookie", cookie))
		return func() *http.Request { return request("GET", "/css/a.css", "Cookie", cookie) }
	})
	queued := func(cookie string) func(h *house) func() *http.Request {
		return func(h *house) func() *http.Request {
			h.hold(request("GET", "/hold"))
			return func() *http.Request { return request("GET", "/", "Cookie", cookie) }
		}
	}
	f("queued without a ticket", 20, 429, queued(""))
	f("queued with a made-up ticket", 20, 429, queued("room_ticket=x"))
	f("queued with a ticket of another key, long after the start", 20, 429, func(h *house) func() *http.Request {
		h.late.Store(true)
		return h.queuedByAnother()
	})
}

// queuedByAnother fills the page slot, and returns requests with a ticket that
// a house with another key gave.
func (h *house) queuedByAnother() func() *http.Request {
	other := newHouse(h.t, "j", "")
	other.hold(request("GET", "/hold"))
	ticket := cookieOf(serve(other.p, request("GET", "/")), queue.TicketCookie)
	if ticket == "" {
		h.t.Fatal("the other house gave no ticket")
	}
	h.hold(request("GET", "/hold"))
	return func() *http.Request { return request("GET", "/", "Cookie", ticket) }
}

func TestWhatEarnsNone(t *testing.T) {
	f := func(name string, status int, prepare func(h *house) func() *http.Request) {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, "k", "the admin token")
			if got := h.acts(30, prepare(h), status); got != 0 {
				t.Errorf("banned at act %d", got)
			}
			if s := h.registry.Stats(time.Now()); s.Tracked != 0 || s.StrikesAll != 0 {
				t.Errorf("stats %+v", s)
			}
		})
	}
	plain := func(header ...string) func(h *house) func() *http.Request {
		return func(*house) func() *http.Request {
			return func() *http.Request { return request("GET", "/css/a.css", header...) }
		}
	}
	f("no pass", 403, plain())
	f("an empty pass", 403, plain("Cookie", pass.CookieName+"="))
	f("a pass of another key", 403, func(h *house) func() *http.Request {
		return plain("Cookie", newHouse(t, "j", "").newPass())(h)
	})
	f("a full global pool", 503, func(h *house) func() *http.Request {
		for range 2 {
			h.hold(request("GET", "/css/hold.css", "Cookie", h.newPass()))
		}
		return plain("Cookie", h.newPass())(h)
	})
	f("queued with a ticket of before a restart", 429, (*house).queuedByAnother)
	f("no admin header", 401, func(*house) func() *http.Request {
		return func() *http.Request { return request("GET", "/_room/abuse") }
	})
	f("the admin token", 200, func(*house) func() *http.Request {
		return func() *http.Request {
			return request("GET", "/_room/abuse", "Authorization", "bearer the admin token")
		}
	})
}

// Who keeps the ticket waits as long as it takes.
func TestWaitingEarnsNone(t *testing.T) {
	h := newHouse(t, "k", "")
	h.hold(request("GET", "/hold"))
	ticket := cookieOf(serve(h.p, request("GET", "/")), queue.TicketCookie)
	if got := h.acts(30, func() *http.Request { return request("GET", "/", "Cookie", ticket) }, 429); got != 0 {
		t.Errorf("banned at act %d", got)
	}
	if s := h.registry.Stats(time.Now()); s.StrikesAll != 1 {
		t.Errorf("%d strikes, want that of the first arrival only", s.StrikesAll)
	}
}

func TestAdminTokenUnset(t *testing.T) {
	h := newHouse(t, "k", "")
	if got := h.acts(30, func() *http.Request { return request("GET", "/_room/abuse", "Authorization", "Bearer x") }, 404); got != 0 {
		t.Errorf("banned at act %d for a token where there is none", got)
	}
}

// The right token does not help a client that guessed until it was banned.
func TestBannedWithTheRightToken(t *testing.T) {
	h := newHouse(t, "k", "the admin token")
	h.acts(4, func() *http.Request { return request("GET", "/_room/abuse", "Authorization", "Bearer x") }, 401)
	if w := serve(h.p, request("GET", "/_room/abuse", "Authorization", "Bearer the admin token")); w.Code != 429 {
		t.Errorf("%d, want 429", w.Code)
	}
}
