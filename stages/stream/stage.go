package stream

import (
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/slots"
)

// Stage holds the stream slots. Use [New].
type Stage struct {
	gate *slots.Gate
	busy [1 + (MaxRetry-MinRetry)/time.Second]pipeline.Refusal // one per second of Retry-After

	served, throttled atomic.Uint64
}

var (
	_ pipeline.Stage    = (*Stage)(nil)
	_ pipeline.Releaser = (*Stage)(nil)
)

// New builds the stage. The error says when the cap is out of bounds.
func New(c Config) (*Stage, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	s := &Stage{gate: slots.New(c.Cap)}
	for i := range s.busy {
		s.busy[i] = pipeline.Refusal{
			Reason:     pipeline.StreamBusy,
			RetryAfter: MinRetry + time.Duration(i)*time.Second,
		}
	}
	return s, nil
}

// Apply changes the cap in place; when it is out of bounds it changes nothing.
func (s *Stage) Apply(c Config) error {
	if err := c.check(); err != nil {
		return err
	}
	s.gate.SetCap(c.Cap)
	return nil
}

// Name implements pipeline.Stage.
func (s *Stage) Name() string { return "stream" }

// Classes implements pipeline.Stage.
func (s *Stage) Classes() pipeline.Classes { return pipeline.ClassesOf(pipeline.Stream) }

// Enter takes a slot for the life of the stream, or refuses.
func (s *Stage) Enter(v *pipeline.Visit) (pipeline.Verdict, error) {
	if !s.gate.TryAcquire() {
		s.throttled.Add(1)
		return pipeline.Answered, &s.busy[rand.IntN(len(s.busy))]
	}
	v.Hold(s, 0)
	s.served.Add(1)
	return pipeline.Next, nil
}

// Release implements pipeline.Releaser.
func (s *Stage) Release(*pipeline.Visit, uint64) { s.gate.Release() }
