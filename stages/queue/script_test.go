package queue

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/andreimerlescu/concert/line"
)

// script is a line that answers as the test says.
type script struct {
	line.Line // nil: what the test does not expect panics

	mu       sync.Mutex // guards the fields below
	answers  []line.Decision
	err      error
	status   line.Status // answers Poll
	entries  []line.Entry
	came     []time.Time // when each entered
	released []line.Slot
}

var errAway = errors.New("the line is away")

func (s *script) Enter(_ context.Context, now time.Time, e line.Entry) (line.Decision, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries, s.came = append(s.entries, e), append(s.came, now)
	if s.err != nil {
		return line.Decision{}, s.err
	}
	d := s.answers[0]
	if len(s.answers) > 1 {
		s.answers = s.answers[1:]
	}
	return d, nil
}

func (s *script) Release(_ time.Time, slot line.Slot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.released = append(s.released, slot)
}

func (s *script) Poll(context.Context, time.Time, line.Ticket) (line.Status, error) {
	return s.status, s.err
}

func (s *script) Stats(time.Time) line.Stats { return line.Stats{Utilization: 0.5} }

func (s *script) Look(context.Context, time.Time, line.Ticket) (line.Status, error) {
	return line.Status{}, s.err
}

func (s *script) Quit(context.Context, time.Time, line.Ticket) error { return s.err }

// scriptDoor is a stand whose outcome the test decides.
type scriptDoor struct {
	done    chan struct{}
	outcome line.Decision // valid once done is closed
	onLeave line.Decision
	left    chan bool // receives gone
}

func newDoor(onLeave line.Decision) *scriptDoor {
	return &scriptDoor{done: make(chan struct{}), onLeave: onLeave, left: make(chan bool, 1)}
}

func (d *scriptDoor) grant(outcome line.Decision) {
	d.outcome = outcome
	close(d.done)
}

func (d *scriptDoor) Done() <-chan struct{} { return d.done }

func (d *scriptDoor) Outcome() line.Decision { return d.outcome }

func (d *scriptDoor) Leave(_ time.Time, gone bool) line.Decision {
	d.left <- gone
	return d.onLeave
}
