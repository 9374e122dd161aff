package load

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Sample is one target's slice of a round.
type Sample struct {
	Requests int
	Rate     float64       // requests per second
	CPU      time.Duration // of the target's process, per request
	P50, P99 time.Duration // latency
}

// Row is one target's samples, one for each round.
type Row struct {
	Name    string
	Samples []Sample
}

// PagesReport is what Pages found. The first row is what the others are
// compared with.
type PagesReport struct {
	Settings Settings
	Rows     []Row
}

// PacedReport is what Paced found. The first row is the origin itself.
type PacedReport struct {
	Settings Settings
	Rows     []Row
}

// Answer is what Answers found of one kind of answer: a row of net/http's, one of
// Concert's, and one of net/http's with the header fields of Concert's.
type Answer struct {
	Name  string
	Bytes int // of the body
	Rows  []Row
}

// AnswersReport is what Answers found.
type AnswersReport struct {
	Settings Settings
	Answers  []Answer
}

// spread is a median and its quartiles.
type spread struct{ median, low, high float64 }

// over returns the spread over all rounds of what compare makes of a row's
// sample and the base's of the same round.
func over(row, base Row, compare func(own, base Sample) float64) spread {
	all := make([]float64, len(row.Samples))
	for i, s := range row.Samples {
		all[i] = compare(s, base.Samples[i])
	}
	slices.Sort(all)
	n := len(all)
	return spread{all[n/2], all[n/4], all[n*3/4]}
}

// ratio returns how a row's processor time per request compares with the
// base's: the median of the rounds' ratios, and their quartiles.
func ratio(row, base Row) (median, low, high float64) {
	s := over(row, base, func(own, base Sample) float64 { return float64(own.CPU) / float64(base.CPU) })
	return s.median, s.low, s.high
}

// added returns how much later than the base's a row's median answer comes, in
// milliseconds: the median of the rounds' differences, and their quartiles.
func added(row, base Row) (median, low, high float64) {
	s := over(row, base, func(own, base Sample) float64 { return milliseconds(own.P50 - base.P50) })
	return s.median, s.low, s.high
}

// middle returns the median of a figure over the rounds.
func middle(row Row, figure func(Sample) float64) float64 {
	return over(row, row, func(own, _ Sample) float64 { return figure(own) }).median
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }

func cpuMicroseconds(s Sample) float64 { return float64(s.CPU) / float64(time.Microsecond) }

// String returns the report as a table in Markdown.
func (r *PagesReport) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "A page of %d bytes, %d connections, %d rounds of %v for each target in turn.\n\n",
		r.Settings.Size, r.Settings.Connections, r.Settings.Rounds, r.Settings.Slice)
	b.WriteString("| target | CPU µs per request | ratio (quartiles) | requests/s | p50 ms | p99 ms |\n|---|---|---|---|---|---|\n")
	for _, row := range r.Rows {
		median, low, high := ratio(row, r.Rows[0])
		fmt.Fprintf(&b, "| %s | %.1f | %.2f (%.2f–%.2f) | %.0f | %.2f | %.2f |\n", row.Name,
			middle(row, cpuMicroseconds), median, low, high, middle(row, func(s Sample) float64 { return s.Rate }),
			middle(row, func(s Sample) float64 { return milliseconds(s.P50) }),
			middle(row, func(s Sample) float64 { return milliseconds(s.P99) }))
	}
	return b.String()
}

// String returns the report as a table in Markdown.
func (r *PacedReport) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "A page of %d bytes, %d requests a second evenly, %d rounds of %v for each target in turn.\n\n",
		r.Settings.Size, r.Settings.Rate, r.Settings.Rounds, r.Settings.Slice)
	b.WriteString("| target | p50 ms | added to p50, ms (quartiles) | p99 ms | CPU µs per request |\n|---|---|---|---|---|\n")
	for _, row := range r.Rows {
		median, low, high := added(row, r.Rows[0])
		fmt.Fprintf(&b, "| %s | %.3f | %.3f (%.3f–%.3f) | %.2f | %.1f |\n", row.Name,
			middle(row, func(s Sample) float64 { return milliseconds(s.P50) }), median, low, high,
			middle(row, func(s Sample) float64 { return milliseconds(s.P99) }), middle(row, cpuMicroseconds))
	}
	return b.String()
}

// String returns the report as a table in Markdown.
func (r *AnswersReport) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d visitors in line, %d connections, %d rounds of %v for each in turn.\n\n",
		r.Settings.Waiting, r.Settings.Connections, r.Settings.Rounds, r.Settings.Slice)
	b.WriteString("| answer | bytes | CPU µs, net/http's | CPU µs, Concert's | ratio (quartiles) | to net/http's with the same header |\n|---|---|---|---|---|---|\n")
	for _, a := range r.Answers {
		median, low, high := ratio(a.Rows[1], a.Rows[0])
		same, sameLow, sameHigh := ratio(a.Rows[1], a.Rows[2])
		fmt.Fprintf(&b, "| %s | %d | %.1f | %.1f | %.2f (%.2f–%.2f) | %.2f (%.2f–%.2f) |\n", a.Name, a.Bytes,
			middle(a.Rows[0], cpuMicroseconds), middle(a.Rows[1], cpuMicroseconds), median, low, high, same, sameLow, sameHigh)
	}
	return b.String()
}
