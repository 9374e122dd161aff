package site

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/andreimerlescu/concert/demo/crowd"
)

// get asks for one path without a network.
func get(ctx context.Context, s *Site, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil))
	return w
}

// rush asks for n pages at the same moment and counts the answers by status.
func rush(t *testing.T, s *Site, n int) map[int]int {
	t.Helper()
	var (
		all    sync.WaitGroup
		mu     sync.Mutex // guards counts
		counts = map[int]int{}
	)
	for range n {
		all.Go(func() {
			code := get(t.Context(), s, "/").Code
			mu.Lock()
			defer mu.Unlock()
			counts[code]++
		})
	}
	all.Wait()
	return counts
}

func TestWorkersBoundTheWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{Workers: 2, Backlog: 10, Latency: time.Second})
		began := time.Now()
		counts := rush(t, s, 6)
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("6 pages of 1 s on 2 workers took %v, want 3s", took)
		}
		if counts[200] != 6 {
			t.Errorf("answers by status %v, want six 200", counts)
		}
		if got, want := s.Stats(), (Stats{Peak: 6, Started: 6, Served: 6}); got != want {
			t.Errorf("stats %+v, want %+v", got, want)
		}
	})
}

func TestOverload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{Workers: 1, Backlog: 3, Latency: 2 * time.Second, BacklogTime: 3 * time.Second})
		counts := rush(t, s, 10)
		// One is worked on at once and one after 2 s; two lose patience at 3 s.
		if counts[200] != 2 || counts[504] != 2 || counts[502] != 6 {
			t.Errorf("answers by status %v, want two 200, two 504, six 502", counts)
		}
		want := Stats{Peak: 4, Started: 2, Served: 2, Refused: 6, TimedOut: 2}
		if got := s.Stats(); got != want || got.Failed() != 8 {
			t.Errorf("stats %+v (%d failed), want %+v", got, got.Failed(), want)
		}
	})
}

func TestClientLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{Workers: 1, Backlog: 1, Latency: time.Minute})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var both sync.WaitGroup
		both.Go(func() { get(ctx, s, "/") }) // at work
		both.Go(func() { get(ctx, s, "/") }) // in the backlog
		both.Wait()
		want := Stats{Peak: 2, Started: 1, Gone: 2}
		if got := s.Stats(); got != want {
			t.Errorf("stats %+v, want %+v", got, want)
		}
	})
}

func TestPageAndItsAssets(t *testing.T) {
	s := New(Options{Workers: 1})
	page := get(t.Context(), s, "/shop?x=1")
	if page.Code != 200 || page.Header().Get(crowd.SeqHeader) != "1" {
		t.Fatalf("page: status %d, headers %v", page.Code, page.Header())
	}
	if strings.Contains(page.Body.String(), crowd.StatusPath) {
		t.Error("the page names the status path, which marks a waiting page")
	}
	for _, path := range Assets() {
		if !strings.Contains(page.Body.String(), `"`+path+`"`) {
			t.Errorf("the page does not refer to %s", path)
		}
		if a := get(t.Context(), s, path); a.Code != 200 || a.Body.Len() == 0 {
			t.Errorf("%s: status %d, %d bytes", path, a.Code, a.Body.Len())
		}
	}
	if a := get(t.Context(), s, "/images/none.svg"); a.Code != 404 {
		t.Errorf("unknown asset: status %d, want 404", a.Code)
	}
	if got := s.Stats().Started; got != 1 {
		t.Errorf("assets took a worker: %d pages started, want 1", got)
	}
}
