package metrics

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Histogram counts durations into fixed buckets. The zero value is not usable;
// see newHistogram. Safe for concurrent use; Observe allocates nothing.
type Histogram struct {
	bounds []time.Duration // upper bounds, ascending
	counts []atomic.Uint64 // one per bound, and the overflow
	sum    atomic.Int64    // nanoseconds
}

// newHistogram returns a histogram with the given upper bounds, ascending.
func newHistogram(bounds ...time.Duration) *Histogram {
	return &Histogram{bounds: bounds, counts: make([]atomic.Uint64, len(bounds)+1)}
}

// Observe counts one duration.
func (h *Histogram) Observe(d time.Duration) {
	i := 0
	for i < len(h.bounds) && d > h.bounds[i] {
		i++
	}
	h.counts[i].Add(1)
	h.sum.Add(int64(d))
}

// Quantile estimates the q-quantile (0 to 1) by linear interpolation inside a
// bucket; 0 when nothing was counted. Values above the last bound count as the
// last bound.
func (h *Histogram) Quantile(q float64) time.Duration {
	var total uint64
	for i := range h.counts {
		total += h.counts[i].Load()
	}
	want, seen, low := q*float64(total), 0.0, time.Duration(0)
	for i, bound := range h.bounds {
		n := float64(h.counts[i].Load())
		if n > 0 && seen+n >= want {
			return low + time.Duration(float64(bound-low)*(want-seen)/n)
		}
		seen, low = seen+n, bound
	}
	if total == 0 {
		return 0
	}
	return low
}

// metric renders the histogram for a scrape.
func (h *Histogram) metric(desc *prometheus.Desc) prometheus.Metric {
	buckets := make(map[float64]uint64, len(h.bounds))
	var total uint64
	for i, bound := range h.bounds {
		total += h.counts[i].Load()
		buckets[bound.Seconds()] = total
	}
	total += h.counts[len(h.bounds)].Load()
	return prometheus.MustNewConstHistogram(desc, total, time.Duration(h.sum.Load()).Seconds(), buckets)
}

// Counts is what a Histogram had counted at one moment, for quantiles over the
// time between two moments.
type Counts []uint64

// Counts reads the buckets.
func (h *Histogram) Counts() Counts {
	c := make(Counts, len(h.counts))
	for i := range h.counts {
		c[i] = h.counts[i].Load()
	}
	return c
}

// QuantileSince estimates the q-quantile (0 to 1) of what was counted from one
// moment to another of h; false when that is nothing. It is as exact as the
// buckets are: see Quantile.
func (h *Histogram) QuantileSince(q float64, from, to Counts) (time.Duration, bool) {
	d := Histogram{bounds: h.bounds, counts: make([]atomic.Uint64, len(h.counts))}
	total := uint64(0)
	for i := range d.counts {
		n := to[i] - from[i]
		total += n
		d.counts[i].Store(n)
	}
	return d.Quantile(q), total > 0
}
