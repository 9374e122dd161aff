package fleet

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/andreimerlescu/concert/demo/crowd"
)

const (
	fullShare   = 0.9         // an origin as full as this has recovered
	fullFor     = time.Second // when it was so for this long
	sampleEvery = 20 * time.Millisecond
)

// Report is what a run has shown. Shares are between 0 and 1.
type Report struct {
	Scenario    Scenario
	Served      int
	Lost        int // patient visitors that were not served
	LastError   string
	Peak        int     // most pages at the origin at once
	Utilisation float64 // between faults
	Inverted    float64 // share of the pairs out of order
	Took        time.Duration
	Calls       int // of the script, by the Redis there was in the end
	Polls       int
	Reloads     int
	Recovery    []Recovery
	Network     string // what the instances reach Redis by
}

// Recovery is how long a fault mattered, from its beginning.
type Recovery struct {
	Fault string
	Took  time.Duration
}

func (f *Fleet) report(results []crowd.Result, began time.Time, w *watcher) *Report {
	r := &Report{Scenario: f.s, Peak: f.origin.Stats().Peak, Network: f.net.String()}
	var order []int64
	last := began
	slices.SortStableFunc(results, func(a, b crowd.Result) int { return a.Sent.Compare(b.Sent) })
	for _, v := range results {
		r.Polls += v.Polls
		r.Reloads += v.Reloads
		if v.Outcome != crowd.Admitted {
			r.Lost++
			if v.Err != nil {
				r.LastError = v.Err.Error()
			}
			continue
		}
		order = append(order, v.Seq)
		if v.Done.After(last) {
			last = v.Done
		}
	}
	r.Served, r.Inverted, r.Took = len(order), inverted(order), last.Sub(began)
	r.Utilisation, r.Recovery = w.judge()
	r.Calls = f.calls()
	return r
}

// calls is how often the script was called.
func (f *Fleet) calls() (n int) {
	c := f.Redis.Client(f.tb)
	info, err := c.Do(f.tb.Context(), c.B().Info().Section("commandstats").Build()).ToString()
	if err != nil {
		f.tb.Errorf("ask redis for its figures: %v", err)
	}
	for text := range strings.Lines(info) {
		if rest, ok := strings.CutPrefix(text, "cmdstat_fcall:calls="); ok {
			count, _, _ := strings.Cut(rest, ",")
			n, _ = strconv.Atoi(count)
		}
	}
	return n
}

// inverted is the share of pairs that came in against their order, by counting
// them while merging.
func inverted(order []int64) float64 {
	n := len(order)
	if n < 2 {
		return 0
	}
	pairs := sortCounting(slices.Clone(order), make([]int64, n))
	return float64(pairs) / (float64(n) * float64(n-1) / 2)
}

func sortCounting(a, spare []int64) (pairs int) {
	if len(a) < 2 {
		return 0
	}
	mid := len(a) / 2
	pairs = sortCounting(a[:mid], spare) + sortCounting(a[mid:], spare)
	left := append(spare[:0], a[:mid]...)
	i, j := 0, mid
	for k := range a {
		if j == len(a) || i < len(left) && left[i] <= a[j] {
			a[k] = left[i]
			i++
		} else {
			a[k] = a[j]
			j++
			pairs += len(left) - i
		}
	}
	return pairs
}

// Broken names what must hold at any speed and did not.
func (r *Report) Broken() []string {
	var broken []string
	if r.Peak > r.Scenario.Cap {
		broken = append(broken, fmt.Sprintf("invariant 1: %d pages at the origin at once, cap %d", r.Peak, r.Scenario.Cap))
	}
	if r.Lost > 0 {
		broken = append(broken, fmt.Sprintf("%d patient visitors not served (last error: %q)", r.Lost, r.LastError))
	}
	return broken
}

// String renders the report for people.
func (r *Report) String() string {
	var b strings.Builder
	s := r.Scenario
	fmt.Fprintf(&b, "%d visitors in %v, %d instances, cap %d, origin %v, %s\n", s.Visitors, s.Arrival, s.Instances, s.Cap, s.Latency, r.Network)
	fmt.Fprintf(&b, "  served          %6d     (%d lost) in %.1f s\n", r.Served, r.Lost, r.Took.Seconds())
	fmt.Fprintf(&b, "  peak in flight  %6d\n", r.Peak)
	fmt.Fprintf(&b, "  utilisation     %6.1f %%   between faults\n", 100*r.Utilisation)
	fmt.Fprintf(&b, "  inverted pairs  %6.2f %%\n", 100*r.Inverted)
	fmt.Fprintf(&b, "  polls           %6d     %d reloads\n", r.Polls, r.Reloads)
	fmt.Fprintf(&b, "  calls of redis  %6d\n", r.Calls)
	for _, x := range r.Recovery {
		fmt.Fprintf(&b, "  recovered after %6.1f s   %s\n", x.Took.Seconds(), x.Fault)
	}
	for _, line := range r.Broken() {
		fmt.Fprintf(&b, "  NOT MET: %s\n", line)
	}
	return b.String()
}
