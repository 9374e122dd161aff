package assets

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/pipeline/pipelinetest"
)

// small is a configuration that is quickly exhausted.
var small = Config{
	Caps:       Caps{UserH1: 2, UserH2: 3, Global: 4},
	UserWait:   2 * time.Second,
	GlobalWait: 3 * time.Second,
	IdleTTL:    time.Minute,
}

// bed is the stage in a pipeline, before an origin that holds each request
// until it is told to go on.
type bed struct {
	t       *testing.T
	stage   *Stage
	p       *pipeline.Pipeline
	free    chan struct{} // one value lets one request end
	arrived chan struct{} // unless nil, told of each request that arrives
	holding atomic.Int32
	strikes atomic.Int32
}

// before stands for the stages in front: it makes each visit what its header
// says it is.
type before struct{}

func (before) Name() string              { return "before" }
func (before) Classes() pipeline.Classes { return pipeline.AllClasses }
func (before) Enter(v *pipeline.Visit) (pipeline.Verdict, error) {
	v.Class = pipeline.Asset
	if v.R.Header["Public"] != nil {
		v.Class = pipeline.PublicAsset
	}
	if v.R.Header["H2"] != nil {
		v.Family = pipeline.HTTP2
	}
	v.Pass.State = pipeline.PassValid
	copy(v.Pass.ID[:], v.R.Header.Get("User"))
	return pipeline.Next, nil
}

// Serve implements pipeline.Origin.
func (b *bed) Serve(v *pipeline.Visit) error {
	b.holding.Add(1)
	if b.arrived != nil {
		b.arrived <- struct{}{}
	}
	defer b.holding.Add(-1)
	<-b.free
	v.W.WriteHeader(http.StatusOK)
	return nil
}

func newBed(t *testing.T, c Config, observers ...pipeline.Observer) *bed {
	t.Helper()
	b := &bed{t: t, free: make(chan struct{})}
	var err error
	if b.stage, err = New(c); err != nil {
		t.Fatal(err)
	}
	b.p = pipelinetest.New(t, pipeline.Config{
		Origin:    b,
		Observers: observers,
		Strikes:   func(*pipeline.Visit, pipeline.Strike) { b.strikes.Add(1) },
	}, before{}, b.stage)
	return b
}

// request is one request under way.
type request struct {
	*httptest.ResponseRecorder
	hangUp func()
	done   atomic.Bool
}

// ask sends a request whose headers are the words: "User=a", "Public", "H2".
func (b *bed) ask(words ...string) *request {
	r := httptest.NewRequest("GET", "/css/a.css", nil)
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		r.Header[name] = []string{value}
	}
	ctx, cancel := context.WithCancel(r.Context())
	q := &request{ResponseRecorder: httptest.NewRecorder(), hangUp: cancel}
	go func() { // ends when the request is answered, which the bubble waits for
		defer func() {
			if failure := recover(); failure != nil && failure != http.ErrAbortHandler {
				panic(failure) // a client that hung up is cut off, as net/http expects
			}
			q.done.Store(true)
		}()
		b.p.ServeHTTP(q.ResponseRecorder, r.WithContext(ctx))
	}()
	synctest.Wait()
	return q
}

func (b *bed) askTimes(n int, words ...string) {
	for range n {
		b.ask(words...)
	}
}

// finish lets n requests end.
func (b *bed) finish(n int) {
	for range n {
		b.free <- struct{}{}
	}
	synctest.Wait()
}

func (b *bed) wantHolding(n int32) {
	b.t.Helper()
	if got := b.holding.Load(); got != n {
		b.t.Errorf("%d requests at the origin, want %d", got, n)
	}
}

func (b *bed) wantStats(want Stats) {
	b.t.Helper()
	want.Caps = b.stage.Stats().Caps
	if got := b.stage.Stats(); got != want {
		b.t.Errorf("stats are %+v, want %+v", got, want)
	}
}

func (q *request) wantAnswer(t *testing.T, status int, retryAfter string) {
	t.Helper()
	if !q.done.Load() {
		t.Errorf("not answered yet, want %d", status)
		return
	}
	if q.Code != status || q.Header().Get("Retry-After") != retryAfter {
		t.Errorf("answered %d, Retry-After %q; want %d, %q", q.Code, q.Header().Get("Retry-After"), status, retryAfter)
	}
}
