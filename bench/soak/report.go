package soak

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/andreimerlescu/concert/internal/ticks"
)

// Sample is what Concert holds between two waves.
type Sample struct {
	At         time.Duration // since the run began
	Heap       int64         // bytes that live, garbage collected
	Goroutines int
	Occupancy  int    // page slots held
	Internal   uint64 // refusals that are Concert's own fault, so far
}

// Report is what a run found.
type Report struct {
	Settings Settings
	Visitors int
	Admitted int
	Left     int
	Acts     int // of mischief and operation
	Failures int
	Failure  string // the first
	Peak     int    // most pages at the origin at once
	Samples  []Sample
	Last     Sample // when all was over
}

func (r *Report) failed(err error) {
	if r.Failures++; r.Failures == 1 {
		r.Failure = err.Error()
	}
}

// Growth that is none: what a heap of a few megabytes does by itself.
const (
	heapSlack      = 8 << 20
	goroutineSlack = 50
)

// Broken names what must hold at any speed and did not.
func (r *Report) Broken() []string {
	var broken []string
	bad := func(format string, args ...any) { broken = append(broken, fmt.Sprintf(format, args...)) }
	if r.Failures > 0 {
		bad("%d answers or visits failed, the first: %s", r.Failures, r.Failure)
	}
	if r.Peak > r.Settings.Cap {
		bad("invariant 1: %d pages at the origin at once, cap %d", r.Peak, r.Settings.Cap)
	}
	if r.Admitted == 0 {
		bad("nobody was admitted")
	}
	if r.Last.Internal > 0 {
		bad("%d requests failed within Concert", r.Last.Internal)
	}
	if r.Last.Occupancy > 0 {
		bad("invariant 5: %d slots were not given back", r.Last.Occupancy)
	}
	third := len(r.Samples) / 3
	if third == 0 {
		return append(broken, "the run was too short to tell growth from warming up")
	}
	middle, last := r.Samples[third:2*third], r.Samples[len(r.Samples)-third:]
	if m, l := mean(middle, heap), mean(last, heap); l > m*1.1+heapSlack {
		bad("memory grew from %.1f to %.1f MiB", m/(1<<20), l/(1<<20))
	}
	if m, l := mean(middle, goroutines), mean(last, goroutines); l > m*1.1+goroutineSlack {
		bad("goroutines grew from %.0f to %.0f", m, l)
	}
	return broken
}

func heap(s Sample) float64       { return float64(s.Heap) }
func goroutines(s Sample) float64 { return float64(s.Goroutines) }

func mean(samples []Sample, figure func(Sample) float64) float64 {
	sum := 0.0
	for _, s := range samples {
		sum += figure(s)
	}
	return sum / float64(len(samples))
}

// String returns the report as a table in Markdown, and what is broken.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v, cap up to %d, origin %v: %d visitors (%d admitted, %d left), %d acts beside them, at most %d pages at once.\n\n",
		r.Settings.For, r.Settings.Cap, r.Settings.Latency, r.Visitors, r.Admitted, r.Left, r.Acts, r.Peak)
	b.WriteString("| third of the run | live heap MiB | goroutines |\n|---|---|---|\n")
	n := len(r.Samples)
	for i, name := range []string{"first", "middle", "last"} {
		if part := r.Samples[i*n/3 : (i+1)*n/3]; len(part) > 0 {
			fmt.Fprintf(&b, "| %s | %.1f | %.0f |\n", name, mean(part, heap)/(1<<20), mean(part, goroutines))
		}
	}
	for _, line := range r.Broken() {
		fmt.Fprintf(&b, "\nNOT MET: %s\n", line)
	}
	return b.String()
}

var (
	heapLine      = regexp.MustCompile(`# HeapAlloc = (\d+)`)
	goroutineLine = regexp.MustCompile(`goroutine profile: total (\d+)`)
)

// sample asks Concert what it holds, and takes the least of three looks: what
// grows for good is in each, and what a machine that stood still has let pile up,
// connections above all, is gone in a moment.
func (r *run) sample(ctx context.Context) (Sample, error) {
	const looks, gap = 3, 100 * time.Millisecond
	least, err := r.look(ctx)
	for n := 1; n < looks && err == nil; n++ {
		ticks.Pause(ctx, gap)
		var s Sample
		s, err = r.look(ctx)
		s.Heap, s.Goroutines = min(s.Heap, least.Heap), min(s.Goroutines, least.Goroutines)
		least = s
	}
	return least, err
}

// look asks Concert what it holds at the moment.
func (r *run) look(ctx context.Context) (Sample, error) {
	s := Sample{At: time.Since(r.began)}
	heap, err := r.number(ctx, "/_room/debug/heap?gc=1&debug=1", heapLine)
	running, err2 := r.number(ctx, "/_room/debug/goroutine?debug=1", goroutineLine)
	status, body, err3 := r.ask(ctx, http.MethodGet, "/_room/stats", nil, operator)
	if err := errors.Join(err, err2, oneOf(status, err3, http.StatusOK)); err != nil {
		return s, err
	}
	var stats struct {
		Occupancy int               `json:"occupancy"`
		Refused   map[string]uint64 `json:"refused"`
	}
	if err := json.Unmarshal(body, &stats); err != nil {
		return s, fmt.Errorf("read the stats: %w", err)
	}
	s.Heap, s.Goroutines, s.Occupancy, s.Internal = heap, int(running), stats.Occupancy, stats.Refused["internal"]
	return s, nil
}

// number reads a figure out of an answer.
func (r *run) number(ctx context.Context, path string, line *regexp.Regexp) (int64, error) {
	status, body, err := r.ask(ctx, http.MethodGet, path, nil, operator)
	if err := oneOf(status, err, http.StatusOK); err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	m := line.FindSubmatch(body)
	if m == nil {
		return 0, fmt.Errorf("%s: no line like %v", path, line)
	}
	return strconv.ParseInt(string(m[1]), 10, 64)
}

// settled waits until nothing is held any more, for a while, and returns what
// there is.
func (r *run) settled(ctx context.Context) (Sample, error) {
	const tries, gap = 600, 100 * time.Millisecond
	for range tries {
		if s, err := r.look(ctx); err != nil || s.Occupancy == 0 {
			return s, err
		}
		ticks.Pause(ctx, gap)
	}
	return r.look(ctx)
}
