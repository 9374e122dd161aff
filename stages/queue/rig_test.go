package queue

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/line/memory"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/signed"
)

// rig is the stage in a pipeline before an origin, with a line of one slot
// unless the test says otherwise.
type rig struct {
	tb      testing.TB
	stage   *Stage
	p       *pipeline.Pipeline
	line    line.Line
	free    chan struct{} // closed: the origin ends the requests it holds
	strikes atomic.Int32
	holding atomic.Int32

	mu     sync.Mutex // guards the fields below
	origin []string   // method, path and body of what reached the origin
	waits  []time.Duration
	waited []time.Duration // Visit.Waited of what reached the origin
}

// before stands for the stages in front.
type before struct{}

func (before) Name() string              { return "before" }
func (before) Classes() pipeline.Classes { return pipeline.AllClasses }
func (before) Enter(v *pipeline.Visit) (pipeline.Verdict, error) {
	v.Class = pipeline.Page
	if strings.HasPrefix(v.Path.Clean, "/queue/") || strings.HasPrefix(v.Path.Clean, "/_room") {
		v.Class = pipeline.Operations
	}
	if id := v.R.Header.Get("Test-Pass"); id != "" {
		v.Pass.State = pipeline.PassValid
		copy(v.Pass.ID[:], id)
	}
	v.Seated = v.R.Header.Get("Test-Seated") != ""
	v.VIP = v.R.Header.Get("Test-Vip") != ""
	v.Waited = time.Duration(len(v.R.Header["Test-Waited"]))
	v.Rank, _ = pipeline.ParseRank(v.R.Header.Get("Test-Rank"))
	return pipeline.Next, nil
}

// Serve implements pipeline.Origin: a request for a path that begins with
// /hold stays until the rig frees it.
func (r *rig) Serve(v *pipeline.Visit) error {
	body, err := io.ReadAll(v.R.Body)
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.origin = append(r.origin, strings.TrimSpace(v.R.Method+" "+v.Path.Clean+" "+string(body)))
	r.waited = append(r.waited, v.Waited)
	r.mu.Unlock()
	if strings.HasPrefix(v.Path.Clean, "/hold") {
		r.holding.Add(1)
		<-r.free
		r.holding.Add(-1)
	}
	v.W.WriteHeader(http.StatusOK)
	_, err = io.WriteString(v.W, "from the origin")
	return err
}

// seen returns what reached the origin so far.
func (r *rig) seen() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.origin, "; ")
}

func keyring(tb testing.TB, secret string) *signed.Keyring {
	tb.Helper()
	k, err := signed.NewKeyring([][]byte{bytes.Repeat([]byte(secret), signed.MinSecret)}, TicketPurpose)
	if err != nil {
		tb.Fatal(err)
	}
	return k
}

func oneSlot() line.Settings {
	return line.Settings{Policy: line.Policy{Cap: 1}, TTL: 5 * time.Minute, FirstPollGrace: 30 * time.Second, Sweep: 36 * time.Second}
}

func newLine(s line.Settings) *memory.Line {
	return memory.New(memory.Options{Settings: s, Start: time.Now()})
}

func newRig(tb testing.TB, l line.Line, change func(*Config)) *rig {
	tb.Helper()
	r := &rig{tb: tb, line: l, free: make(chan struct{})}
	c := Config{
		Line: l, Tickets: keyring(tb, "k"), TicketTTL: 5 * time.Minute, APIJSON: true, RetryAfter: 5 * time.Second,
		Admitted: func(d time.Duration) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.waits = append(r.waits, d)
		},
	}
	if change != nil {
		change(&c)
	}
	var err error
	if r.stage, err = New(c); err != nil {
		tb.Fatal(err)
	}
	r.p, err = pipeline.New(pipeline.Config{
		Resolver: r.resolver(),
		Origin:   r,
		Renderer: pipeline.NewRenderer(nil),
		Strikes: func(_ *pipeline.Visit, s pipeline.Strike) {
			if s != pipeline.StrikeChurn {
				tb.Errorf("strike %v", s)
			}
			r.strikes.Add(1)
		},
		Log: r.log(),
	}, before{}, r.stage)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func (r *rig) resolver() *clientip.Resolver {
	r.tb.Helper()
	trust, err := clientip.ParseTrust("127.0.0.1")
	if err != nil {
		r.tb.Fatal(err)
	}
	return clientip.NewResolver(trust)
}

func (r *rig) log() *slog.Logger { return slog.New(slog.DiscardHandler) }

// option changes a request.
type option func(*http.Request)

func header(name, value string) option {
	return func(r *http.Request) { r.Header.Add(name, value) }
}

func cookie(pairs string) option { return header("Cookie", pairs) }
func accept(types string) option { return header("Accept", types) }
func withPass(id string) option  { return header("Test-Pass", id) }
func within(ctx context.Context) option {
	return func(r *http.Request) { *r = *r.WithContext(ctx) }
}

func html(r *http.Request) {
	r.Header.Set("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
}

func request(method, path string, body io.Reader, options ...option) *http.Request {
	req := httptest.NewRequest(method, path, body)
	for _, o := range options {
		o(req)
	}
	return req
}

// do sends one request without a body.
func (r *rig) do(method, path string, options ...option) *httptest.ResponseRecorder {
	return r.send(request(method, path, nil, options...))
}

// send sends one request. Who hung up is cut off by a panic, as net/http
// expects.
func (r *rig) send(req *http.Request) (w *httptest.ResponseRecorder) {
	defer func() {
		if failure := recover(); failure != nil && failure != http.ErrAbortHandler {
			panic(failure)
		}
	}()
	w = httptest.NewRecorder()
	r.p.ServeHTTP(w, req)
	return w
}

// fill occupies the only slot until the returned function is called.
func (r *rig) fill() (release func()) {
	r.tb.Helper()
	d, err := r.line.Enter(context.Background(), time.Now(), line.Entry{})
	if err != nil || d.Verdict != line.Admitted {
		r.tb.Fatalf("fill the slot: %v %v", d.Verdict, err)
	}
	return func() { r.line.Release(time.Now(), d.Slot) }
}

// ticketOf returns the cookie pair of the ticket a response set; empty when it
// set none.
func ticketOf(w *httptest.ResponseRecorder) string {
	for _, c := range w.Result().Cookies() {
		if c.Name == TicketCookie {
			return c.Name + "=" + c.Value
		}
	}
	return ""
}

// status is the JSON of a status answer or a queued program's.
type status struct {
	Ready           bool    `json:"ready"`
	Position        int     `json:"position"`
	Utilization     float64 `json:"utilization"`
	CookiesRequired bool    `json:"cookies_required"`
	Ahead           int     `json:"ahead"`
	ETA             *int    `json:"eta_seconds"`
	PollAfterMS     int     `json:"poll_after_ms"`
	State           string  `json:"state"`
	Reason          string  `json:"reason"`
	Message         string  `json:"message"`
	MessageLevel    string  `json:"message_level"`
	SkipCost        float64 `json:"skip_cost"`
	RatePerPos      float64 `json:"rate_per_pos"`
	HasPass         bool    `json:"has_pass"`

	Hint       string `json:"hint"`
	Queued     bool   `json:"queued"`
	RetryAfter int    `json:"retry_after_seconds"`
	StatusURL  string `json:"status_url"`
	Submitted  *bool  `json:"submitted"`
}

func decode(tb testing.TB, w *httptest.ResponseRecorder) status {
	tb.Helper()
	var st status
	d := json.NewDecoder(bytes.NewReader(w.Body.Bytes()))
	d.DisallowUnknownFields()
	if err := d.Decode(&st); err != nil {
		tb.Fatalf("status %d, body %q: %v", w.Code, w.Body, err)
	}
	return st
}

// checkPrivate checks that no cache and no index keeps a response.
func checkPrivate(tb testing.TB, w *httptest.ResponseRecorder) {
	tb.Helper()
	for name, want := range map[string]string{
		"Cache-Control": "no-store", "Vary": "Accept, Accept-Encoding, Accept-Language, Cookie", "X-Robots-Tag": "noindex", "Etag": "", "Last-Modified": "",
	} {
		if got := w.Header().Get(name); got != want {
			tb.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
