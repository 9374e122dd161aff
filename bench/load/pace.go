package load

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"
)

// pace has the crowd send rate requests a second, evenly and whatever becomes
// of them, for that long. A latency counts from when the request was to leave,
// so a target that keeps its clients waiting cannot hide it: those that should
// have been sent meanwhile have waited, too. The latencies are sorted.
//
// Each request takes a connection that has nothing under way, and waits when
// there is none.
func (c *crowd) pace(rate int, slice time.Duration) ([]time.Duration, error) {
	free := make(chan *client, len(c.clients))
	errs := make([]error, len(c.clients)+1)
	var readers sync.WaitGroup
	for i, v := range c.clients {
		v.latency = v.latency[:0]
		v.sent = make(chan struct{}, 1)
		readers.Go(func() { errs[i] = v.read(v.sent, free) })
		free <- v
	}
	errs[len(c.clients)] = launchEvenly(free, rate, slice)
	for _, v := range c.clients { // whoever still waits for an answer gets it first
		close(v.sent)
	}
	readers.Wait()
	return c.latencies(), errors.Join(errs...)
}

// read takes the answers to what is sent, and has the connection used again.
func (v *client) read(sent <-chan struct{}, free chan<- *client) error {
	for range sent {
		if err := v.receive(); err != nil {
			return err // the connection is not used any more
		}
		v.latency = append(v.latency, time.Since(v.due))
		free <- v
	}
	return nil
}

// launchEvenly sends requests at their times. It has a thread of its own: the
// runtime's timers are as much as a millisecond late on an idle machine, which
// is more than there is to be measured.
func launchEvenly(free <-chan *client, rate int, slice time.Duration) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	gap := time.Second / time.Duration(rate)
	began := time.Now()
	for n := time.Duration(0); n*gap < slice; n++ {
		due := began.Add(n * gap)
		for left := time.Until(due); left > 0; left = time.Until(due) {
			nap(left)
		}
		v, err := take(free)
		if err != nil {
			return err
		}
		v.due = due
		if err := v.send(); err != nil {
			return err
		}
		v.sent <- struct{}{}
	}
	return nil
}

// take returns a connection that has nothing under way.
func take(free <-chan *client) (*client, error) {
	select {
	case v := <-free:
		return v, nil
	default:
	}
	select {
	case v := <-free:
		return v, nil
	case <-time.After(stuckAfter):
		return nil, fmt.Errorf("no answer for %v: %w", stuckAfter, os.ErrDeadlineExceeded)
	}
}

// stuckAfter is how long all connections may be waiting for their answers.
const stuckAfter = 10 * time.Second
