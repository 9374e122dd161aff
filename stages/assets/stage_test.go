package assets

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/pipeline"
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
	b.p, err = pipeline.New(pipeline.Config{
		Resolver:  clientip.NewResolver(nil),
		Origin:    b,
		Renderer:  pipeline.NewRenderer(nil),
		Observers: observers,
		Strikes:   func(*pipeline.Visit, pipeline.Strike) { b.strikes.Add(1) },
		Log:       slog.New(slog.DiscardHandler),
	}, before{}, b.stage)
	if err != nil {
		t.Fatal(err)
	}
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

func TestPassIsHeldToItsOwnCap(t *testing.T) {
	for _, c := range []struct {
		name  string
		words []string
		cap   int
	}{
		{"http1", []string{"User=a"}, small.UserH1},
		{"http2", []string{"User=a", "H2"}, small.UserH2},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBed(t, small)
				b.askTimes(c.cap, c.words...)
				over := b.ask(c.words...)
				b.wantHolding(int32(c.cap))

				time.Sleep(small.UserWait)
				synctest.Wait()
				over.wantAnswer(t, http.StatusTooManyRequests, "1")
				if n := b.strikes.Load(); n != 1 {
					t.Errorf("%d strikes, want 1", n)
				}
				b.wantStats(Stats{InFlight: c.cap, Users: 1, Served: uint64(c.cap), UserThrottled: 1})
				b.finish(c.cap)
			})
		})
	}
}

func TestFamiliesHavePoolsOfTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, small)
		b.askTimes(small.UserH1, "User=a")
		b.ask("User=a", "H2")
		b.wantHolding(int32(small.UserH1) + 1)
		b.finish(small.UserH1 + 1)
	})
}

func TestWaiterGetsTheSlotThatBecomesFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, small)
		b.askTimes(small.UserH1, "User=a")
		waiter := b.ask("User=a")
		time.Sleep(small.UserWait - time.Millisecond)
		b.finish(1)
		b.wantHolding(int32(small.UserH1))
		b.finish(small.UserH1)
		waiter.wantAnswer(t, http.StatusOK, "")
		b.wantStats(Stats{Users: 1, Served: uint64(small.UserH1) + 1})
	})
}

func TestGlobalCapIsForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, small)
		for i := range small.Global - 1 {
			b.ask(fmt.Sprintf("User=%d", i))
		}
		b.ask("Public")
		private, public := b.ask("User=last"), b.ask("Public")
		b.wantHolding(int32(small.Global))

		time.Sleep(small.GlobalWait)
		synctest.Wait()
		private.wantAnswer(t, http.StatusServiceUnavailable, "1")
		public.wantAnswer(t, http.StatusServiceUnavailable, "1")
		if n := b.strikes.Load(); n != 0 {
			t.Errorf("%d strikes for a full global pool, want none", n)
		}
		b.wantStats(Stats{InFlight: small.Global, Users: small.Global, Served: uint64(small.Global), GlobalThrottled: 2})
		b.finish(small.Global)
	})
}

// A refused request must not keep the slot of its own pool that it already had.
func TestRefusalGivesBackTheUserSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := small
		c.Global, c.GlobalWait = 1, 0
		b := newBed(t, c)
		b.ask("Public")
		for range 3 * c.UserH1 {
			b.ask("User=a").wantAnswer(t, http.StatusServiceUnavailable, "1")
		}
		b.finish(1)
		b.askTimes(1, "User=a")
		b.wantHolding(1)
		b.finish(1)
	})
}

func TestPublicAssetsSharePoolsWithNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, small)
		b.askTimes(small.Global, "Public")
		b.wantHolding(int32(small.Global))
		b.wantStats(Stats{InFlight: small.Global, Served: uint64(small.Global)})
		b.finish(small.Global)
	})
}

// Whoever leaves a page with images under way is no abuser.
func TestHangingUpWhileWaitingIsNoOffence(t *testing.T) {
	for _, c := range []struct {
		name string
		fill string // what takes the slots
	}{
		{"own pool", "User=a"},
		{"global pool", "Public"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				caps := small
				caps.Global = 2
				b := newBed(t, caps)
				b.askTimes(2, c.fill)
				waiter := b.ask("User=a")
				waiter.hangUp()
				synctest.Wait()
				if !waiter.done.Load() || waiter.Body.Len() != 0 {
					t.Error("the request of a client that left goes on")
				}
				if n := b.strikes.Load(); n != 0 {
					t.Errorf("%d strikes, want none", n)
				}
				if st := b.stage.Stats(); st.UserThrottled+st.GlobalThrottled != 0 {
					t.Errorf("counted as throttled: %+v", st)
				}
				if n := b.p.Stats().Refused[pipeline.ClientGone]; n != 1 {
					t.Errorf("%d visits counted as gone, want 1", n)
				}
				b.finish(2)
				b.wantStats(Stats{Users: b.stage.Stats().Users, Served: 2})
			})
		})
	}
}

func TestShrinkCountsThoseInside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, small)
		b.askTimes(small.UserH2, "User=a", "H2")
		b.ask("Public")
		smaller := small
		smaller.Caps = Caps{UserH1: 1, UserH2: 1, Global: 2}
		if err := b.stage.Apply(smaller); err != nil {
			t.Fatal(err)
		}
		b.finish(2) // two of four are left: the global pool is exactly full
		waiter := b.ask("Public")
		b.wantHolding(2)
		b.finish(1)
		b.wantHolding(2)
		b.finish(2)
		waiter.wantAnswer(t, http.StatusOK, "")
	})
}

func TestGrowthLetsWaitersIn(t *testing.T) {
	grown := small
	grown.UserH1, grown.UserH2, grown.Global = small.UserH1+1, small.UserH2+1, small.Global+1
	for _, c := range []struct {
		name          string
		words         []string
		before, after int
	}{
		{"http1", []string{"User=a"}, small.UserH1, grown.UserH1},
		{"http2", []string{"User=a", "H2"}, small.UserH2, grown.UserH2},
		{"global", []string{"Public"}, small.Global, grown.Global},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBed(t, small)
				b.askTimes(c.after, c.words...)
				b.wantHolding(int32(c.before))
				if err := b.stage.Apply(grown); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				b.wantHolding(int32(c.after))
				b.finish(c.after)
			})
		})
	}
}

func TestApplyChangesTheWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, small)
		c := small
		c.UserWait = 0
		if err := b.stage.Apply(c); err != nil {
			t.Fatal(err)
		}
		b.askTimes(c.UserH1, "User=a")
		b.ask("User=a").wantAnswer(t, http.StatusTooManyRequests, "1")
		b.finish(c.UserH1)
	})
}

func TestIdlePoolsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t, small)
		b.ask("User=idle")
		b.finish(1)
		b.ask("User=busy")
		sweep := func() int { return b.stage.Sweep(time.Now()) }
		for range 3 {
			time.Sleep(small.IdleTTL)
			sweep()
		}
		b.wantStats(Stats{InFlight: 1, Users: 1, Served: 2})
		b.finish(1)
	})
}

func TestBadSettingsAreNamedAndChangeNothing(t *testing.T) {
	bad := Config{UserWait: -1, GlobalWait: -1}
	_, err := New(bad)
	if err == nil {
		t.Fatal("New accepts them")
	}
	for _, want := range []string{"HTTP/1 cap", "HTTP/2 cap", "global cap", "wait per pass", "global wait", "idle time"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not name the %s", err, want)
		}
	}
	b := newBed(t, small)
	if b.stage.Apply(bad) == nil {
		t.Error("a bad change is accepted")
	}
	if got := *b.stage.settings.Load(); got != small {
		t.Errorf("settings are %+v, want %+v", got, small)
	}
	if b.stage.global.Cap() != small.Global {
		t.Errorf("global cap is %d, want %d", b.stage.global.Cap(), small.Global)
	}
}
