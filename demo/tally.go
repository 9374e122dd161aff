package demo

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/andreimerlescu/concert/demo/crowd"
	"github.com/andreimerlescu/concert/demo/site"
)

const header = "    time  arriving  waiting  in flight  admitted  left  longest wait  origin"

// tally counts the simulated visitors.
type tally struct {
	arrived  int
	arriving int // since the last printed line
	admitted int
	left     int
	failed   int
	lastErr  error
	queued   map[time.Time]int // arrival of those who wait now
	waits    []time.Duration   // of the admitted
	failures int64             // of the origin, when the last line was printed
}

func (t *tally) arrive() {
	t.arrived++
	t.arriving++
}

func (t *tally) queue(arrived time.Time) {
	if t.queued == nil {
		t.queued = make(map[time.Time]int)
	}
	t.queued[arrived]++
}

func (t *tally) end(arrived time.Time, r crowd.Result) {
	if r.Queued {
		if t.queued[arrived]--; t.queued[arrived] <= 0 {
			delete(t.queued, arrived)
		}
	}
	switch r.Outcome {
	case crowd.Admitted:
		t.admitted++
		t.waits = append(t.waits, r.Done.Sub(r.Arrived))
	case crowd.Left:
		t.left++
	case crowd.Failed:
		t.failed++
		t.lastErr = r.Err
	}
}

// longest is how long the one who waits longest has waited.
func (t *tally) longest(now time.Time) time.Duration {
	var d time.Duration
	for arrived := range t.queued {
		d = max(d, now.Sub(arrived))
	}
	return d
}

// line is the printed line of this second.
func (s *show) line(now time.Time, r room) string {
	origin := s.origin.Stats()
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &s.tally
	line := fmt.Sprintf("%7.0fs  %8d  %7d  %9s  %8d  %4d  %12s  %s",
		now.Sub(s.began).Seconds(), t.arriving, r.Waiting, fmt.Sprintf("%d/%d", r.InFlight, r.Cap),
		t.admitted, t.left, t.longest(now).Round(100*time.Millisecond), health(origin, t.failures))
	t.arriving, t.failures = 0, origin.Failed()
	return line
}

// health says how the origin is; before is how many pages it had failed when
// it was asked last.
func health(now site.Stats, before int64) string {
	switch {
	case now.Failed() > before:
		return fmt.Sprintf("overloaded: %d pages failed", now.Failed()-before)
	case now.Backlog > 0:
		return fmt.Sprintf("overloaded: %d pages wait for a worker", now.Backlog)
	}
	return "ok"
}

// summary prints what the whole run came to.
func (s *show) summary(w io.Writer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, origin := &s.tally, s.origin.Stats()
	fmt.Fprintf(w, "\nRan for %v. %d visitors arrived in %d waves: %d admitted, %d left, %d failed.\n",
		time.Since(s.began).Round(time.Second), t.arrived, s.waves, t.admitted, t.left, t.failed)
	if t.lastErr != nil {
		fmt.Fprintf(w, "The last failure: %v\n", t.lastErr)
	}
	if len(t.waits) > 0 {
		slices.Sort(t.waits)
		fmt.Fprintf(w, "Half of the admitted waited less than %v, the longest %v.\n",
			t.waits[len(t.waits)/2].Round(100*time.Millisecond), t.waits[len(t.waits)-1].Round(100*time.Millisecond))
	}
	fmt.Fprintf(w, "The origin never had more than %d pages at once (cap %d) and failed %d.\n",
		origin.Peak, s.options.Cap, origin.Failed())
}
