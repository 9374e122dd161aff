package priority

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/line/memory"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/pipeline/pipelinetest"
	"github.com/andreimerlescu/concert/signed"
)

// rig is the stage in a pipeline between stand-ins for its neighbours, before
// an origin that holds requests for /hold until they are freed. It is used in
// a bubble.
type rig struct {
	tb    testing.TB
	stage *Stage
	p     *pipeline.Pipeline
	line  *memory.Line
	log   bytes.Buffer

	strikes  atomic.Int32
	atOrigin atomic.Int32
	peak     atomic.Int32

	mu      sync.Mutex // guards the fields below
	seen    []string   // what reached the origin, in order
	freed   map[string]chan struct{}
	answers http.Header // of the origin's next responses
}

// front stands for the classify and pass stages: the Test-Pass header is a
// valid pass, Test-Expired one that has run out.
type front struct{}

func (front) Name() string              { return "front" }
func (front) Classes() pipeline.Classes { return pipeline.AllClasses }
func (front) Enter(v *pipeline.Visit) (pipeline.Verdict, error) {
	v.Class = pipeline.Page
	if strings.HasPrefix(v.Path.Clean, "/asset") {
		v.Class = pipeline.Asset
	}
	for name, state := range map[string]pipeline.PassState{"Test-Pass": pipeline.PassValid, "Test-Expired": pipeline.PassExpired} {
		if id := v.R.Header.Get(name); id != "" {
			v.Pass.State = state
			copy(v.Pass.ID[:], id)
		}
	}
	return pipeline.Next, nil
}

// queue stands for the queue stage: no place, no waiting at the door.
type queue struct{ r *rig }

func (queue) Name() string              { return "queue" }
func (queue) Classes() pipeline.Classes { return pipeline.ClassesOf(pipeline.Page) }
func (q queue) Enter(v *pipeline.Visit) (pipeline.Verdict, error) {
	if v.Seated {
		return pipeline.Next, nil
	}
	d, err := q.r.line.Enter(v.R.Context(), time.Now(), line.Entry{Client: v.Client.Key})
	switch {
	case err != nil:
		return pipeline.Answered, err
	case d.Verdict == line.Admitted:
		v.Hold(queueSlots(q), uint64(d.Slot))
		return pipeline.Next, nil
	}
	v.W.Header().Set("Test-Rank", v.Rank.String())
	v.W.WriteHeader(http.StatusAccepted)
	return pipeline.Answered, nil
}

type queueSlots struct{ r *rig }

func (q queueSlots) Release(_ *pipeline.Visit, slot uint64) {
	q.r.line.Release(time.Now(), line.Slot(slot))
}

// Serve implements pipeline.Origin.
func (r *rig) Serve(v *pipeline.Visit) error {
	n := r.atOrigin.Add(1)
	defer r.atOrigin.Add(-1)
	for peak := r.peak.Load(); n > peak && !r.peak.CompareAndSwap(peak, n); peak = r.peak.Load() {
	}
	body, err := io.ReadAll(v.R.Body)
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.seen = append(r.seen, strings.TrimSpace(v.R.Method+" "+v.Path.Clean+" "+string(body)))
	wait := r.freed[v.Path.Clean]
	h := v.W.Header()
	for name, values := range r.answers {
		h[name] = slices.Clone(values)
	}
	r.mu.Unlock()
	if strings.HasPrefix(v.Path.Clean, "/hold") {
		select {
		case <-wait:
		case <-v.R.Context().Done():
			return &pipeline.Refusal{Reason: pipeline.ClientGone}
		}
	} else if strings.HasPrefix(v.Path.Clean, "/slow") {
		time.Sleep(100 * time.Millisecond)
	}
	v.Pass.State = pipeline.PassValid // as the pass stage does when it issues one
	v.EditResponse(http.StatusOK, h)
	v.W.WriteHeader(http.StatusOK)
	return nil
}

// origin returns what reached the origin so far.
func (r *rig) origin() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.seen, ", ")
}

// answer has the origin send Concert-Priority from now on.
func (r *rig) answer(lines ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers = http.Header{Header: lines}
}

func testKeys(tb testing.TB, secret string) *signed.Keyring {
	tb.Helper()
	k, err := signed.NewKeyring([][]byte{bytes.Repeat([]byte(secret), signed.MinSecret)}, Purpose)
	if err != nil {
		tb.Fatal(err)
	}
	return k
}

func newRig(tb testing.TB, pageCap int, change func(*Config)) *rig {
	tb.Helper()
	r := &rig{tb: tb, freed: map[string]chan struct{}{}}
	r.line = memory.New(memory.Options{Start: time.Now(), Settings: line.Settings{
		Policy: line.Policy{Cap: pageCap}, TTL: 5 * time.Minute, Sweep: 36 * time.Second,
	}})
	c := Config{
		Line: r.line, Grants: testKeys(tb, "k"), Cap: 1, LaneRank: pipeline.Customer, Wait: 5 * time.Second, Forms: true,
		RetryAfter: 5 * time.Second, CookiePath: "/", Log: slog.New(slog.NewTextHandler(&r.log, nil)),
		HasPlace: func(v *pipeline.Visit) bool { return v.R.Header.Get("Test-Placed") != "" },
	}
	if change != nil {
		change(&c)
	}
	var err error
	if r.stage, err = New(c); err != nil {
		tb.Fatal(err)
	}
	r.p = pipelinetest.New(tb, pipeline.Config{
		Origin: r, Strikes: func(*pipeline.Visit, pipeline.Strike) { r.strikes.Add(1) },
	}, front{}, r.stage, queue{r})
	return r
}

// grant returns a cookie with a grant as the stage would issue it.
func (r *rig) grant(pass string, rank pipeline.Rank, age, ttl time.Duration) option {
	g := grant{rank: rank, issued: time.Now().Add(-age).UnixMilli(), expires: time.Now().Add(ttl - age).Unix()}
	copy(g.pass[:], pass)
	return cookie(string(r.stage.settings.Load().Grants.AppendToken(nil, g.appendPayload(nil))))
}

type option func(*http.Request)

func header(name, value string) option {
	return func(r *http.Request) { r.Header.Add(name, value) }
}
func cookie(value string) option     { return header("Cookie", grantCookie+"="+value) }
func pass(id string) option          { return header("Test-Pass", id) }
func until(c context.Context) option { return func(r *http.Request) { *r = *r.WithContext(c) } }

// call sends a request and waits for its answer. One whose client has left is
// cut off, as net/http expects it to be.
func (r *rig) call(method, path string, options ...option) (w *httptest.ResponseRecorder) {
	var body io.Reader
	if sends(method) {
		body = strings.NewReader("body")
	}
	req := httptest.NewRequest(method, path, body)
	for _, o := range options {
		o(req)
	}
	w = httptest.NewRecorder()
	defer func() {
		if failure := recover(); failure != nil && failure != http.ErrAbortHandler {
			panic(failure)
		}
	}()
	r.p.ServeHTTP(w, req)
	return w
}

// ask is one request on its way.
type request struct {
	*httptest.ResponseRecorder
	done chan struct{}
	took time.Duration
}

func (r *rig) send(method, path string, options ...option) *request {
	a := &request{done: make(chan struct{})}
	began := time.Now()
	go func() {
		defer close(a.done)
		a.ResponseRecorder = r.call(method, path, options...)
		a.took = time.Since(began)
	}()
	synctest.Wait()
	return a
}

// over reports the status of an answered request, 0 before.
func (a *request) over() int {
	synctest.Wait()
	select {
	case <-a.done:
		return a.Code
	default:
		return 0
	}
}

// hold fills a slot with a request for path, which must begin with /hold, and
// returns what ends it.
func (r *rig) hold(path string, options ...option) (free func()) {
	r.tb.Helper()
	ch := make(chan struct{})
	r.mu.Lock()
	r.freed[path] = ch
	r.mu.Unlock()
	before := r.atOrigin.Load()
	a := r.send("GET", path, options...)
	if r.atOrigin.Load() != before+1 {
		r.tb.Fatalf("%s did not reach the origin: %d", path, a.over())
	}
	return func() {
		close(ch)
		if a.over() != http.StatusOK {
			r.tb.Fatalf("%s ends with %d", path, a.over())
		}
	}
}

func (r *rig) wantStatus(name string, got, want int) {
	r.tb.Helper()
	if got != want {
		r.tb.Errorf("%s: status %d, want %d", name, got, want)
	}
}

// bubble runs a test in a bubble with a rig; whatever is held ends with it.
func bubble(t *testing.T, pageCap int, change func(*Config), f func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, pageCap, change)
		f(r)
		synctest.Wait()
		if n := r.atOrigin.Load(); n != 0 {
			t.Errorf("%d requests are left at the origin", n)
		}
		if st := r.stage.Stats(); st.LaneInFlight != 0 || st.LaneWaiting != 0 || len(r.stage.lane.passes) != 0 {
			t.Errorf("left in the lane: %+v, passes %v", st, r.stage.lane.passes)
		}
		if n := r.line.Stats(time.Now()).InFlight; n != 0 {
			t.Errorf("%d page slots are left out", n)
		}
		if r.strikes.Load() != 0 {
			t.Error(fmt.Sprint(r.strikes.Load(), " strikes"))
		}
	})
}
