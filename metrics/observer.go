package metrics

import (
	"sync/atomic"
	"time"

	"github.com/andreimerlescu/concert/pipeline"
)

const classes = 16 // at least as many as pipeline.Classes can hold

// Observer counts finished visits. It implements pipeline.Observer.
type Observer struct {
	requests [classes][6]atomic.Uint64 // by class and by hundreds of the status
	gone     atomic.Uint64             // clients that left before an answer
	Wait     *Histogram                // time until a visitor was let in; the queue stage observes it
	Origin   *Histogram                // time to the origin's response header
}

var _ pipeline.Observer = (*Observer)(nil)

// NewObserver returns an observer with buckets from a millisecond to an hour.
func NewObserver() *Observer {
	ms := time.Millisecond
	return &Observer{
		Wait: newHistogram(ms, 10*ms, 100*ms, 500*ms, time.Second, 3*time.Second, 10*time.Second, 30*time.Second,
			time.Minute, 3*time.Minute, 10*time.Minute, 30*time.Minute, time.Hour),
		Origin: newHistogram(ms, 5*ms, 10*ms, 25*ms, 50*ms, 100*ms, 250*ms, 500*ms,
			time.Second, 2500*ms, 5*time.Second, 10*time.Second, 30*time.Second),
	}
}

// Observe counts one visit.
func (o *Observer) Observe(v *pipeline.Visit) {
	status := v.Status()
	if status == pipeline.ClientGone.Status() {
		o.gone.Add(1)
	} else if hundreds := status / 100; hundreds < len(o.requests[0]) {
		o.requests[v.Class][hundreds].Add(1)
	}
	if v.OriginLatency > 0 {
		o.Origin.Observe(v.OriginLatency)
	}
}
