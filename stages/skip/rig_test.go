package skip

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/internal/allocs"
	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/line/linetest"
	"github.com/andreimerlescu/concert/line/memory"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/pipeline/pipelinetest"
	"github.com/andreimerlescu/concert/signed"
)

const ticketCookie = "room_ticket"

// rig is the stage in a pipeline, with its endpoints, before a full line. A
// ticket travels as its number here.
type rig struct {
	t     *testing.T
	stage *Stage
	p     *pipeline.Pipeline
	line  *memory.Line
	slot  line.Slot
	vip   bool // of the last visit
	waits bool // pages are answered with the waiting page
}

// pass lets time go by, for the line too.
func (r *rig) pass(d time.Duration) {
	from := time.Now()
	time.Sleep(d)
	linetest.Pass(r.t, r.line, from, time.Now())
}

// front stands for the classify and operations stages.
type front struct{ r *rig }

func (front) Name() string              { return "front" }
func (front) Classes() pipeline.Classes { return pipeline.AllClasses }
func (f front) Enter(v *pipeline.Visit) (pipeline.Verdict, error) {
	v.Class = pipeline.Page
	if id := v.R.Header.Get("X-Admit"); id != "" { // stands for the pass stage
		v.Pass.State = pipeline.PassExpired
		copy(v.Pass.ID[:], id)
	}
	switch v.Path.Clean {
	case "/_room/promote":
		f.r.stage.ServePromote(v)
		return pipeline.Answered, nil
	case "/_room/quote":
		f.r.stage.ServeQuote(v)
		return pipeline.Answered, nil
	case "/queue/status":
		v.Class = pipeline.Operations
	}
	return pipeline.Next, nil
}

// back stands for the queue stage.
type back struct{ r *rig }

func (back) Name() string              { return "back" }
func (back) Classes() pipeline.Classes { return pipeline.AllClasses }
func (b back) Enter(v *pipeline.Visit) (pipeline.Verdict, error) {
	b.r.vip = v.VIP
	if v.Class == pipeline.Page && !b.r.waits { // stands for the origin
		v.W.Header().Set("Cache-Control", "public, max-age=60")
		v.EditResponse(http.StatusOK, v.W.Header())
	}
	v.W.WriteHeader(http.StatusOK)
	return pipeline.Answered, nil
}

type origin struct{}

func (origin) Serve(*pipeline.Visit) error { return nil }

func testKeys(t testing.TB, purpose string) *signed.Keyring {
	t.Helper()
	k, err := signed.NewKeyring([][]byte{bytes.Repeat([]byte("k"), signed.MinSecret)}, purpose)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func testConfig(t testing.TB, l line.Line) Config {
	return Config{
		Line: l, Refs: testKeys(t, RefPurpose), Passes: testKeys(t, PassPurpose), TicketCookie: ticketCookie,
		Ticket: func(value string) (line.Ticket, bool) {
			n, err := strconv.ParseUint(value, 10, 64)
			return line.Ticket{Number: n}, err == nil
		},
		Rate: 0.5, Surge: 0.25, PassTTL: time.Hour, CookiePath: "/",
	}
}

func newRig(t *testing.T, change func(*Config)) *rig {
	t.Helper()
	r := &rig{t: t, line: memory.New(memory.Options{Start: time.Now(), Settings: line.Settings{
		Policy: line.Policy{Cap: 1}, TTL: 5 * time.Minute, Sweep: 36 * time.Second,
	}})}
	c := testConfig(t, r.line)
	if change != nil {
		change(&c)
	}
	var err error
	if r.stage, err = New(c); err != nil {
		t.Fatal(err)
	}
	r.p = pipelinetest.New(t, pipeline.Config{Origin: origin{}}, front{r}, r.stage, back{r})
	d, err := r.line.Enter(t.Context(), time.Now(), line.Entry{})
	if err != nil || d.Verdict != line.Admitted {
		t.Fatalf("fill the slot: %v, %v", d, err)
	}
	r.slot = d.Slot
	return r
}

// join takes a place at the end of the line.
func (r *rig) join() line.Ticket {
	r.t.Helper()
	d, err := r.line.Enter(r.t.Context(), time.Now(), line.Entry{})
	if err != nil || d.Verdict != line.Waiting {
		r.t.Fatalf("join the line: %v, %v", d, err)
	}
	return d.Place.Ticket
}

func (r *rig) queue(n int) (all []line.Ticket) {
	for range n {
		all = append(all, r.join())
	}
	return all
}

func (r *rig) ref(t line.Ticket) string { return string(r.stage.AppendRef(nil, t)) }

// answer is what the endpoints say.
type answer struct {
	status int

	Promoted  bool    `json:"promoted"`
	ID        string  `json:"id"`
	Position  int     `json:"position"`
	Payment   string  `json:"payment"`
	Repeated  bool    `json:"repeated"`
	PassUntil string  `json:"pass_until"`
	Target    int     `json:"target"`
	Places    int     `json:"places"`
	Depth     int     `json:"queue_depth"`
	Rate      float64 `json:"rate_per_pos"`
	Cost      float64 `json:"skip_cost"`
	HasPass   bool    `json:"has_pass"`
	Room      string  `json:"room"`
	Error     string  `json:"error"`
}

func (r *rig) read(w *httptest.ResponseRecorder) answer {
	r.t.Helper()
	a := answer{status: w.Code}
	dec := json.NewDecoder(w.Body)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&a); err != nil {
		r.t.Fatalf("answer of status %d: %v", w.Code, err)
	}
	if (a.Error == "") != (w.Code == http.StatusOK) || w.Header().Get("Cache-Control") != "no-store" {
		r.t.Errorf("status %d with error %q and %v", w.Code, a.Error, w.Header())
	}
	return a
}

func (r *rig) promote(body string) answer {
	r.t.Helper()
	w := httptest.NewRecorder()
	r.p.ServeHTTP(w, httptest.NewRequest("POST", "/_room/promote", strings.NewReader(body)))
	return r.read(w)
}

func (r *rig) quote(query string, cookies ...string) answer {
	r.t.Helper()
	return r.read(r.visit("/_room/quote"+query, cookies...))
}

func (r *rig) visit(path string, cookies ...string) *httptest.ResponseRecorder {
	req := httptest.NewRequest("GET", path, nil)
	for _, c := range cookies {
		req.Header.Add("Cookie", c)
	}
	w := httptest.NewRecorder()
	r.p.ServeHTTP(w, req)
	return w
}

// pass returns the pass that a response sets; "" when it sets none.
func pass(w *httptest.ResponseRecorder) string {
	for _, c := range w.Result().Cookies() {
		if c.Name == cookieName {
			return c.Name + "=" + c.Value
		}
	}
	return ""
}

func held(t line.Ticket) string { return ticketCookie + "=" + strconv.FormatUint(t.Number, 10) }

// wantOrder has these tickets in line, in this order.
func (r *rig) wantOrder(want ...line.Ticket) {
	r.t.Helper()
	all, err := r.line.List(r.t.Context(), time.Now(), 0, 100)
	if err != nil || len(all) != len(want) {
		r.t.Fatalf("%d in line, %v; want %d", len(all), err, len(want))
	}
	for k, o := range all {
		if o.Place.Ticket.Number != want[k].Number {
			r.t.Errorf("position %d: ticket %d, want %d", k+1, o.Place.Ticket.Number, want[k].Number)
		}
	}
}

// visitOf is a page visit with a Cookie header.
func visitOf(cookie string) *pipeline.Visit {
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Cookie", cookie)
	return &pipeline.Visit{R: r, Class: pipeline.Page, Start: time.Now()}
}

func TestAllocs(t *testing.T) {
	s := newRig(t, nil).stage
	var payload [passSize]byte
	payload[8] = 0x0f // in the far future; of nobody's address, as the visit is
	for name, cookie := range map[string]string{
		"nothing": "a=1; b=2", "ticket": "room_ticket=x", "pass": cookieName + "=" + string(testKeys(t, PassPurpose).AppendToken(nil, payload[:])),
	} {
		v := visitOf(cookie)
		fresh := *v
		if n := allocs.PerRun(1000, func() { *v = fresh; _, _ = s.Enter(v) }); n != 0 {
			t.Errorf("%s: %v allocations, want 0", name, n)
		}
		if v.VIP != (name == "pass") {
			t.Errorf("%s: VIP is %v", name, v.VIP)
		}
	}
}
