package priority

import (
	"errors"
	"os"
	"time"

	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/pipeline"
)

// wait has the visit wait for a slot of the lane or of the line. Without one
// the verdict is Next and v is not seated.
func (s *Stage) wait(c *settings, v *pipeline.Visit, form bool) (pipeline.Verdict, error) {
	began := time.Now()
	limit, longest := c.Wait, c.Wait
	if form {
		longest = max(longest, c.FormHold)
	}
	if longest > 0 && v.HidesLeaving() {
		if err := s.holdBody(c, v, form); err != nil {
			return pipeline.Answered, err
		}
	}
	if v.BodyInMemory() {
		limit = longest
	}
	if limit == 0 {
		s.counters.full.Add(1)
		return pipeline.Next, nil
	}
	d, err := ask(c, v, true)
	switch {
	case err != nil:
		return pipeline.Answered, err
	case d.Verdict == line.Admitted:
		return s.seated(c, v, (*pageSlots)(s), uint64(d.Slot), time.Since(began))
	}
	w := wait{c: c, v: v, lane: s.lane, waiter: s.lane.join(time.Now(), passKey(v), v.Rank)}
	if d.Verdict == line.AtDoor {
		w.door, w.until = d.Door, d.Until
	}
	if w.waiter == nil && w.door == nil {
		s.counters.full.Add(1)
		return pipeline.Next, nil
	}
	w.run(time.Now().Add(limit))
	took := time.Since(began)
	v.Waited += took
	return s.conclude(&w, took)
}

// holdBody reads the body, so that the client's leaving shows. Its errors are
// refusals.
func (s *Stage) holdBody(c *settings, v *pipeline.Visit, form bool) error {
	err := v.HoldBody()
	switch {
	case err == nil:
		return nil
	case !errors.Is(err, os.ErrDeadlineExceeded):
		s.counters.gone.Add(1)
		return clientGone
	case form:
		_, err := s.unsent(c, v)
		return err
	}
	return badRequest
}

// wait is a visit that waits in the lane, at the door, or both.
type wait struct {
	c      *settings
	v      *pipeline.Visit
	lane   *lane
	waiter *waiter   // nil: not in the lane
	door   line.Door // nil: not at the door
	until  time.Time // when to leave the door

	laneSlot bool
	pageSlot line.Slot // valid if hasPage
	hasPage  bool
}

// run returns once there is a slot, the client is gone or the deadline has
// passed. Then the visit waits nowhere any more, and may have got two slots.
func (w *wait) run(deadline time.Time) {
	next := deadline
	if w.door != nil && w.until.Before(next) {
		next = w.until
	}
	timer := time.NewTimer(time.Until(next))
	defer timer.Stop()
	for {
		select {
		case <-w.granted():
		case <-w.called():
		case <-w.v.R.Context().Done():
		case <-timer.C:
			if w.waiter == nil || !next.Before(deadline) {
				break
			}
			if w.leaveDoor(); !w.hasPage {
				next = deadline
				timer.Reset(time.Until(next))
				continue
			}
		}
		break
	}
	w.laneSlot = w.waiter != nil && w.lane.leave(w.waiter)
	w.leaveDoor()
}

// granted and called are nil, and so never ready, where the visit does not wait.
func (w *wait) granted() <-chan struct{} {
	if w.waiter == nil {
		return nil
	}
	return w.waiter.granted
}

func (w *wait) called() <-chan struct{} {
	if w.door == nil {
		return nil
	}
	return w.door.Done()
}

// leaveDoor goes away from the door, with a slot if it was granted first.
func (w *wait) leaveDoor() {
	if w.door == nil {
		return
	}
	d := w.door.Leave(time.Now(), w.v.R.Context().Err() != nil)
	w.door = nil
	if d.Verdict == line.Admitted {
		w.pageSlot, w.hasPage = d.Slot, true
	}
}

// conclude keeps one slot of those the wait has brought. A client that is gone
// keeps none: the origin must not hear of its request, even when the grant
// came first.
func (s *Stage) conclude(w *wait, took time.Duration) (pipeline.Verdict, error) {
	gone := w.v.R.Context().Err() != nil
	pass := passKey(w.v)
	if w.laneSlot && (gone || w.hasPage) {
		s.lane.release(time.Now(), pass)
	}
	switch {
	case gone:
		if w.hasPage {
			w.c.Line.Release(time.Now(), w.pageSlot)
		}
		s.counters.gone.Add(1)
		return pipeline.Answered, clientGone
	case w.hasPage:
		return s.seated(w.c, w.v, (*pageSlots)(s), uint64(w.pageSlot), took)
	case w.laneSlot:
		return s.seatedInLane(w.c, w.v, pass, took)
	}
	s.counters.full.Add(1)
	d, err := ask(w.c, w.v, false) // a page slot may have come free unnoticed
	switch {
	case err != nil:
		return pipeline.Answered, err
	case d.Verdict == line.Admitted:
		return s.seated(w.c, w.v, (*pageSlots)(s), uint64(d.Slot), took)
	}
	return pipeline.Next, nil
}
