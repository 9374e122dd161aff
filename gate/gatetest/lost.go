package gatetest

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/gate"
)

// The ticks, of a tenth of a second each, at which things happen to a crowd that
// loses its store.
const (
	lostPause  = 600
	lostResume = 1200
	lostAt     = 1600
	lostUntil  = 1900
	lostFaster = 2000
	lostSlower = 2600
	// lostWorkers is how many ask at the same time.
	lostWorkers = 32
)

// Loss is a store that can be lost and had back, from outside.
type Loss struct {
	Store gate.Store
	// Durable has everything that is answered from now on outlive the loss.
	// Lose ends the store, calls under way included, and Back brings it back.
	Durable, Lose, Back func()
}

// Lost simulates a crowd, of 20,000 say, that joins within five minutes at 500
// per 10 s, with a pause, changes of the rate, and a store that is lost for half
// a minute in the middle of a tick's calls. Never are more let in than the rates
// allow, always exactly those in front, and everybody who stays gets in.
func Lost(t *testing.T, crowd int, loss Loss) {
	const tick = 100 * time.Millisecond
	burst := crowd / 40
	r := newRig(t, func(*testing.T, time.Time) gate.Store { return loss.Store }, func(room *gate.Room) { room.Inflow, room.Burst = burst, burst })
	s := &lostCrowd{rig: r, due: map[int64][]int{}}
	allowed, rate := float64(burst), float64(burst)/10
	paused := false
	for n := int64(0); len(s.in) < crowd*9/10; n++ {
		if n > 12*3600*10 {
			t.Fatalf("after half a day %d of %d are in", len(s.in), crowd*9/10)
		}
		switch n {
		case lostPause:
			r.act(gate.Pause)
			paused = true
		case lostResume:
			r.act(gate.Resume)
			paused = false
		case lostAt:
			loss.Durable()
		case lostUntil:
			loss.Back()
		case lostFaster:
			r.update(gate.Patch{Inflow: new(4 * burst)})
			rate *= 4
		case lostSlower:
			r.update(gate.Patch{Inflow: new(burst / 2)})
			rate = float64(burst/2) / 10
		}
		l := gate.Live{QueueLength: 1} // as far as is known while the store is lost
		if n > lostAt && n < lostUntil {
			s.away(n)
		} else {
			s.join(n, min(crowd, int(n)*crowd/3000))
			l = r.live()
			s.check(&l, allowed, paused)
			s.poll(n, l.Admitted, func() {
				if n == lostAt {
					loss.Lose()
				}
			})
		}
		r.pass(tick)
		if !paused {
			allowed += rate * tick.Seconds()
		}
		if l.QueueLength == 0 { // nothing more than a burst is saved
			allowed = min(allowed, float64(l.Admitted+uint64(burst)))
		}
	}
	slices.Sort(s.in)
	if len(slices.Compact(s.in)) != crowd*9/10 {
		t.Error("a ticket was let in twice")
	}
	if s.cut == 0 {
		t.Error("nobody's call was cut off: the loss was none")
	}
}

// lostCrowd are the visitors. One in ten leaves after joining.
type lostCrowd struct {
	*rig
	visitors []lostVisitor
	due      map[int64][]int // ticks to who asks then
	mu       sync.Mutex      // guards the fields below
	in       []uint64        // tickets that were exchanged
	cut      int             // calls that got no answer
}

type lostVisitor struct {
	gate.Status
	unsure bool // the last answer was lost: the token may be burnt
}

// join has visitors come until there are so many.
func (s *lostCrowd) join(n int64, many int) {
	for len(s.visitors) < many {
		s.visitors = append(s.visitors, lostVisitor{Status: s.rig.join()})
		s.due[n+1] = append(s.due[n+1], len(s.visitors)-1)
	}
}

// away is a tick without a store: whoever wanted to ask does so ten seconds
// later. Now and then somebody tries.
func (s *lostCrowd) away(n int64) {
	s.due[n+100] = append(s.due[n+100], s.due[n]...)
	delete(s.due, n)
	if n%50 != 0 {
		return
	}
	if _, err := s.store.Join(s.Context(), s.now, s.id); !errors.Is(err, gate.ErrUnavailable) {
		s.Fatalf("join while the store is lost: %v", err)
	}
}

// check compares who is let in with what the rates allow.
func (s *lostCrowd) check(l *gate.Live, allowed float64, paused bool) {
	switch {
	case float64(l.Admitted) > allowed+1e-6:
		s.Fatalf("%d admitted, %f allowed", l.Admitted, allowed)
	case !paused && l.QueueLength > 0 && float64(l.Admitted) < allowed-1-1e-6:
		s.Fatalf("%d wait, yet only %d of %f were let in", l.QueueLength, l.Admitted, allowed)
	}
}

// poll has everybody ask whose time it is, many at once; halfway is called when
// half of them have begun to, and the last of them ask after it.
func (s *lostCrowd) poll(n int64, admitted uint64, halfway func()) {
	due := s.due[n]
	delete(s.due, n)
	work := make(chan int)
	var wg sync.WaitGroup
	for range lostWorkers {
		wg.Go(func() { // ends with the work
			for i := range work {
				s.ask(n, i, admitted)
			}
		})
	}
	over := make(chan struct{})
	for k, i := range due {
		switch k {
		case len(due) / 2:
			wg.Go(func() { halfway(); close(over) }) // while others ask; ends by itself
		case len(due) * 3 / 4:
			<-over
		}
		if i%10 != 9 {
			work <- i
		}
	}
	close(work)
	wg.Wait()
}

// ask is one visitor's call.
func (s *lostCrowd) ask(n int64, i int, admitted uint64) {
	const tick = 100 * time.Millisecond
	v := &s.visitors[i]
	again := s.store.Poll
	if v.unsure {
		again = s.store.Resume // as the page does, with the resume secret
	}
	next, err := again(s.Context(), s.now, s.id, v.Ticket)
	if err == nil {
		v.Status, v.unsure = next, false
		if v.Admitted != (v.Ticket.Number <= admitted) {
			s.Errorf("ticket %d admitted: %v, while %d are", v.Ticket.Number, v.Admitted, admitted)
		}
		if v.Admitted {
			_, err = s.store.Exchange(s.Context(), s.now, s.id, v.Ticket)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	wait := int64(v.PollAfter / tick)
	switch {
	case errors.Is(err, gate.ErrUnavailable):
		s.cut++
		v.unsure, wait = true, 100
	case err != nil:
		s.Errorf("ticket %d: %v", v.Ticket.Number, err)
		return
	case v.Admitted:
		s.in = append(s.in, v.Ticket.Number)
		return
	}
	s.due[n+wait+1] = append(s.due[n+wait+1], i)
}
