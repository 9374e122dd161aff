package drain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/andreimerlescu/concert/demo/crowd"
	"github.com/andreimerlescu/concert/demo/site"
)

// mostInverted is the share of pairs out of order that is still first come,
// first served: a burst has no sharper order of arrival.
const mostInverted = 0.005

// Report is what a run has shown. Shares are between 0 and 1.
type Report struct {
	Scenario Scenario `json:"scenario"`

	Arrived    int    `json:"arrived"`
	Admitted   int    `json:"admitted"`
	Queued     int    `json:"queued"` // were shown the waiting room
	Left       int    `json:"left"`
	Unfinished int    `json:"unfinished"` // still in line at the end of the run
	Failed     int    `json:"failed"`
	LastError  string `json:"last_error,omitempty"`

	DrainSeconds  float64 `json:"drain_seconds"` // first arrival to last page
	Utilisation   float64 `json:"utilisation"`
	Peak          int     `json:"peak_in_flight"` // most pages at the origin at once
	InvertedPairs float64 `json:"inverted_pairs_share"`

	WaitP50 float64 `json:"wait_p50_seconds"` // of the admitted
	WaitMax float64 `json:"wait_max_seconds"`
	Polls   int     `json:"polls"`
	Reloads int     `json:"reloads"`
	Bounced int     `json:"bounced"`        // reloads that met the waiting room again
	Rises   int     `json:"position_rises"` // polls that showed a worse position
}

func summarise(s Scenario, results []crowd.Result, began time.Time, origin site.Stats) *Report {
	r := &Report{Scenario: s, Arrived: len(results), Peak: origin.Peak}
	var in []crowd.Result
	last := began
	for _, v := range results {
		switch v.Outcome {
		case crowd.Admitted:
			in = append(in, v)
			if v.Done.After(last) {
				last = v.Done
			}
		case crowd.Left:
			r.Left++
		case crowd.Failed:
			r.Failed++
			r.LastError = v.Err.Error()
		default:
			r.Unfinished++
		}
		if v.Queued {
			r.Queued++
		}
		r.Polls += v.Polls
		r.Reloads += v.Reloads
		r.Bounced += v.Bounced
		r.Rises += v.Rises
	}
	r.Admitted = len(in)
	r.DrainSeconds = last.Sub(began).Seconds()
	if r.DrainSeconds > 0 {
		r.Utilisation = float64(r.Admitted) * s.Latency.Seconds() / float64(s.Cap) / r.DrainSeconds
	}
	r.InvertedPairs = inverted(in)
	r.waits(in)
	return r
}

func (r *Report) waits(in []crowd.Result) {
	if len(in) == 0 {
		return
	}
	waits := make([]time.Duration, len(in))
	for i, v := range in {
		waits[i] = v.Done.Sub(v.Arrived)
	}
	slices.Sort(waits)
	r.WaitP50 = waits[len(waits)/2].Seconds()
	r.WaitMax = waits[len(waits)-1].Seconds()
}

// Broken names what must hold at any speed and did not.
func (r *Report) Broken() []string {
	var broken []string
	if r.Peak > r.Scenario.Cap {
		broken = append(broken, fmt.Sprintf("invariant 1: %d pages at the origin at once, cap %d", r.Peak, r.Scenario.Cap))
	}
	if lost := r.Unfinished + r.Failed; lost > 0 {
		broken = append(broken, fmt.Sprintf("%d patient visitors not served (last error: %q)", lost, r.LastError))
	}
	return broken
}

// Missed names what the run was to reach and did not; a busy machine may be
// the reason.
func (r *Report) Missed() []string {
	var missed []string
	if r.Utilisation < r.Scenario.Want {
		missed = append(missed, fmt.Sprintf("utilisation %.1f %%, wanted %.1f %%", 100*r.Utilisation, 100*r.Scenario.Want))
	}
	if r.InvertedPairs > mostInverted {
		missed = append(missed, fmt.Sprintf("inverted pairs %.2f %%, wanted at most %.2f %%", 100*r.InvertedPairs, 100*mostInverted))
	}
	return missed
}

// String renders the report for people.
func (r *Report) String() string {
	s := r.Scenario
	poll := "as told"
	if s.Poll > 0 {
		poll = s.Poll.String()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "scenario %s: %d visitors in %v, origin %v, cap %d, polls %s, %.0f %% leave\n",
		s.Name, s.Visitors, s.Arrival, s.Latency, s.Cap, poll, 100*s.Abandon)
	fmt.Fprintf(&b, "  utilisation      %6.1f %%   (drained in %.2f s)\n", 100*r.Utilisation, r.DrainSeconds)
	fmt.Fprintf(&b, "  peak in flight   %6d\n", r.Peak)
	fmt.Fprintf(&b, "  inverted pairs   %6.3f %%\n", 100*r.InvertedPairs)
	fmt.Fprintf(&b, "  admitted         %6d     (%d queued, %d left, %d unfinished, %d failed)\n",
		r.Admitted, r.Queued, r.Left, r.Unfinished, r.Failed)
	fmt.Fprintf(&b, "  wait             %6.2f s   median, %.2f s longest\n", r.WaitP50, r.WaitMax)
	fmt.Fprintf(&b, "  polls            %6d     (%d reloads, %d of them in vain, %d position rises)\n",
		r.Polls, r.Reloads, r.Bounced, r.Rises)
	for _, line := range slices.Concat(r.Broken(), r.Missed()) {
		fmt.Fprintf(&b, "  NOT MET: %s\n", line)
	}
	if r.LastError != "" {
		fmt.Fprintf(&b, "  last error: %s\n", r.LastError)
	}
	return b.String()
}
