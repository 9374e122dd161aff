package stream

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/pipeline/pipelinetest"
)

// asStream stands for the stages in front: every visit is a stream.
type asStream struct{}

func (asStream) Name() string              { return "before" }
func (asStream) Classes() pipeline.Classes { return pipeline.AllClasses }
func (asStream) Enter(v *pipeline.Visit) (pipeline.Verdict, error) {
	v.Class = pipeline.Stream
	return pipeline.Next, nil
}

// origin keeps each stream open until it is told to end one.
type origin struct {
	end      chan struct{}
	open     atomic.Int32
	hijacks  bool // take the connection over, as for a WebSocket
	panicked bool // end each stream with a panic
}

// Serve implements pipeline.Origin.
func (o *origin) Serve(v *pipeline.Visit) error {
	o.open.Add(1)
	defer o.open.Add(-1)
	if o.hijacks {
		v.Hijacked(http.StatusSwitchingProtocols)
	}
	<-o.end
	if o.panicked {
		panic(http.ErrAbortHandler)
	}
	return nil
}

func build(t *testing.T, streams int, o pipeline.Origin) (*Stage, *pipeline.Pipeline) {
	t.Helper()
	s, err := New(Config{Cap: streams})
	if err != nil {
		t.Fatal(err)
	}
	return s, pipelinetest.New(t, pipeline.Config{Origin: o}, asStream{}, s)
}

// open starts a stream and returns once it is open or refused.
func open(p *pipeline.Pipeline) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	go func() { // ends with the stream, which the bubble waits for
		defer func() { _ = recover() }() // as net/http does with ErrAbortHandler
		p.ServeHTTP(w, httptest.NewRequest("GET", "/events", nil))
	}()
	synctest.Wait()
	return w
}

func TestStreamHoldsItsSlotUntilItEnds(t *testing.T) {
	for name, o := range map[string]*origin{
		"events":    {},
		"websocket": {hijacks: true},
		"aborted":   {panicked: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o.end = make(chan struct{})
				s, p := build(t, 2, o)
				open(p)
				open(p)
				if w := open(p); w.Code != http.StatusServiceUnavailable || w.Body.Len() != 0 {
					t.Errorf("third stream of two is answered %d with %d bytes, want an empty 503", w.Code, w.Body.Len())
				}
				if got, want := s.Stats(), (Stats{Cap: 2, Active: 2, Served: 2, Throttled: 1}); got != want {
					t.Errorf("stats are %+v, want %+v", got, want)
				}
				o.end <- struct{}{}
				synctest.Wait()
				open(p)
				if n := o.open.Load(); n != 2 {
					t.Errorf("%d streams open after one made room, want 2", n)
				}
				close(o.end)
				synctest.Wait()
				if n := s.Stats().Active; n != 0 {
					t.Errorf("%d slots held after all streams ended", n)
				}
			})
		})
	}
}

func TestRefusedStreamsComeBackAtDifferentTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &origin{end: make(chan struct{})}
		_, p := build(t, 1, o)
		open(p)
		seen := map[int]bool{}
		for range 500 {
			after, err := strconv.Atoi(open(p).Header().Get("Retry-After"))
			if err != nil || after < int(MinRetry/time.Second) || after > int(MaxRetry/time.Second) {
				t.Fatalf("Retry-After is %d (%v), want %v to %v", after, err, MinRetry, MaxRetry)
			}
			seen[after] = true
		}
		// That one of the 11 values stays out 500 times is less likely than 1e-19.
		if want := 1 + int((MaxRetry-MinRetry)/time.Second); len(seen) != want {
			t.Errorf("%d different values of Retry-After, want %d", len(seen), want)
		}
		close(o.end)
	})
}

func TestCapChangesInPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &origin{end: make(chan struct{})}
		s, p := build(t, 3, o)
		for range 3 {
			open(p)
		}
		if err := s.Apply(Config{Cap: 2}); err != nil {
			t.Fatal(err)
		}
		o.end <- struct{}{} // two of three are left, which is all there may be
		synctest.Wait()
		open(p)
		if n := o.open.Load(); n != 2 {
			t.Errorf("%d streams open under a cap of 2", n)
		}
		close(o.end)
	})
}

func TestBadCapIsRefusedAndChangesNothing(t *testing.T) {
	if _, err := New(Config{}); err == nil {
		t.Error("New accepts a cap of 0")
	}
	s, _ := build(t, 7, &origin{})
	if s.Apply(Config{Cap: -1}) == nil || s.Stats().Cap != 7 {
		t.Errorf("after a bad change the cap is %d, want an error and 7", s.Stats().Cap)
	}
}
