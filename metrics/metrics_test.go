package metrics

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/andreimerlescu/concert/internal/allocs"
)

func TestQuantile(t *testing.T) {
	h := newHistogram(10*time.Millisecond, 20*time.Millisecond, 40*time.Millisecond)
	if got := h.Quantile(0.5); got != 0 {
		t.Fatalf("of nothing: %v", got)
	}
	for range 10 {
		h.Observe(15 * time.Millisecond)
	}
	for range 10 {
		h.Observe(time.Hour)
	}
	f := func(q float64, want time.Duration) {
		t.Helper()
		if got := h.Quantile(q); got != want {
			t.Errorf("quantile %v = %v, want %v", q, got, want)
		}
	}
	f(0.25, 15*time.Millisecond) // half way into the bucket that holds half of them
	f(0.5, 20*time.Millisecond)
	f(0.9, 40*time.Millisecond) // beyond the last bound
}

func TestQuantileSince(t *testing.T) {
	h := newHistogram(10*time.Millisecond, 20*time.Millisecond, 40*time.Millisecond)
	for range 100 {
		h.Observe(time.Millisecond)
	}
	before := h.Counts()
	if d, ok := h.QuantileSince(0.5, before, h.Counts()); ok || d != 0 {
		t.Errorf("of nothing: %v %v", d, ok)
	}
	for range 10 {
		h.Observe(30 * time.Millisecond)
	}
	if d, ok := h.QuantileSince(0.5, before, h.Counts()); !ok || d != 30*time.Millisecond {
		t.Errorf("of those since: %v %v", d, ok)
	}
}

func TestObservingAllocatesNothing(t *testing.T) {
	h := newHistogram(time.Millisecond, time.Second)
	if n := allocs.PerRun(1000, func() { h.Observe(time.Minute) }); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

func TestScrapeShowsEverySource(t *testing.T) {
	o := NewObserver()
	o.Wait.Observe(2 * time.Second)
	o.requests[1][2].Add(7)
	c := NewCollector(Sources{
		Requests: o,
		Rows:     []Row{{"things", "Things.", prometheus.GaugeValue, func() float64 { return 42 }}},
		Labelled: []Labelled{{"acts_total", "Acts.", "act", prometheus.CounterValue, func(yield func(string, float64)) {
			yield(`quote"d`, 3)
		}}},
	})
	w := httptest.NewRecorder()
	Handler(c).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	for _, want := range []string{
		"concert_things 42\n",
		`concert_acts_total{act="quote\"d"} 3`,
		`concert_requests_total{class="page",code="2xx"} 7`,
		`concert_wait_seconds_bucket{le="1"} 0`,
		`concert_wait_seconds_bucket{le="3"} 1`,
		"concert_wait_seconds_sum 2\n",
		"go_goroutines ",
		"process_open_fds ",
	} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("the scrape lacks %q", want)
		}
	}
}
