package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/pipeline"
)

// maxSpent bounds how often one request may find its ticket used while it
// stood at the door. Once is the rule: it stands there without one next.
const maxSpent = 4

// visit is a page request on its way through the line. It is handed on by
// address, and what the line decided is part of it: thousands stand at the door
// at once, each on a goroutine's stack that copies would make twice as large.
type visit struct {
	*pipeline.Visit
	caller caller
	entry  line.Entry
	came   time.Time // to the line
	// brought is the ticket that came with the request, and value how.
	brought line.Ticket
	value   string
	// twin is what requests of the same visitor have in common; zero when the
	// request brought nothing authentic.
	twin twinKey
	// outdated says that the request brought a ticket that may have been issued
	// before a restart, with a key that is gone.
	outdated bool
	// decision is what the line said last; nothing before it was asked, or when
	// asking failed.
	decision line.Decision
}

// enterPage brings a page request before the line.
func (s *settings) enterPage(v *pipeline.Visit) (pipeline.Verdict, error) {
	if v.Seated {
		return s.letPass(v)
	}
	q := visit{Visit: v, came: v.Start} // reading the clock costs as much as a stage
	if v.Waited > 0 || v.R.ContentLength != 0 {
		q.came = s.cfg.Now() // a stage before may have waited with it, or read its body
	}
	s.describe(&q)
	if err := s.identify(&q); err != nil {
		return pipeline.Answered, err
	}
	if s.isRemoved(&q) {
		return pipeline.Answered, s.tellRemoved(v)
	}
	if isPreflight(v.R) {
		return s.enterPreflight(&q)
	}
	return s.takeTurn(&q)
}

// describe says what sort of request this is, before it is known which ticket
// it brings.
func (s *settings) describe(q *visit) {
	q.caller = s.judge(q.R, wasIn(q.Visit))
	e := &q.entry
	e.Client, e.Rank, e.Front = q.Client.Key, uint8(q.Rank), q.VIP
	e.NoPlace, e.MayHold = !q.caller.takesPlace(), q.caller.mayHold()
	e.Unlimited = s.cfg.Unlimited != nil && s.cfg.Unlimited(q.Client.Addr)
}

// takeTurn lets a request in, or tells its sender why not.
func (s *settings) takeTurn(q *visit) (pipeline.Verdict, error) {
	if err := s.seek(q); err != nil {
		return pipeline.Answered, err
	}
	if q.decision.Verdict != line.Admitted {
		return s.turnAway(q)
	}
	return s.admit(q)
}

// admit lets a request through that holds a slot.
func (s *settings) admit(q *visit) (pipeline.Verdict, error) {
	if s.cfg.Admitted != nil {
		began, now := q.came, q.came // who was let in at once has not waited, and the clock need not be read
		if q.Waited > 0 {
			now = s.cfg.Now()
		}
		if !q.entry.Ticket.IsZero() {
			began = q.entry.Ticket.Issued
		}
		s.cfg.Admitted(max(0, now.Sub(began)))
	}
	q.Hold(s, uint64(q.decision.Slot))
	if isPreflight(q.R) {
		q.OnResponse(s)
	}
	return pipeline.Next, nil
}

// seek asks the line for a slot, and stands at the door for it.
func (s *settings) seek(q *visit) error {
	now := q.came
	if q.entry.MayHold && q.HidesLeaving() {
		if err := s.seekAtOnce(q); err != nil || q.decision.Verdict != line.Busy {
			return err
		}
		if err := s.readBody(q); err != nil {
			return err
		}
		now = s.cfg.Now()
	}
	for range maxSpent {
		err := s.ask(q, now)
		if err == nil && q.decision.Verdict == line.AtDoor {
			err = s.stand(q)
		}
		if err != nil || q.decision.Verdict != line.Spent {
			return err
		}
		if s.cfg.Recheck != nil {
			if _, err := s.cfg.Recheck(q.Visit); err != nil {
				return err
			}
		}
		if s.isRemoved(q) {
			return s.tellRemoved(q.Visit)
		}
		q.entry.Ticket = line.Ticket{}
		now = s.cfg.Now()
	}
	q.entry.MayHold = false // who does not stand at the door cannot be overtaken there
	return s.ask(q, now)
}

// seekAtOnce asks for a slot without a place or a stand at the door, so that a
// body need not be read for a request that is admitted anyway.
func (s *settings) seekAtOnce(q *visit) error {
	place, hold := q.entry.NoPlace, q.entry.MayHold
	q.entry.NoPlace, q.entry.MayHold = true, false
	err := s.enterLine(q, q.came)
	q.entry.NoPlace, q.entry.MayHold = place, hold
	return err
}

func (s *settings) enterLine(q *visit, now time.Time) (err error) {
	ctx := q.R.Context()
	q.decision, err = s.cfg.Line.Enter(ctx, now, q.entry)
	switch {
	case err == nil:
		if q.VIP && q.decision.Place.Fresh && s.cfg.Fronted != nil {
			s.cfg.Fronted(q.Visit, q.decision.Place.Ticket)
		}
		return nil
	case ctx.Err() != nil:
		return clientGone
	}
	return fmt.Errorf("queue: enter the line: %w", err)
}

// stand waits at the door until the outcome stands, the client leaves, or the
// time is up.
func (s *settings) stand(q *visit) error {
	began := s.cfg.Now()
	q.decision = s.outcome(q.R.Context(), q.decision.Door, q.decision.Until.Sub(began))
	now := s.cfg.Now()
	q.Waited += now.Sub(began)
	d := &q.decision
	if q.R.Context().Err() == nil {
		if d.Verdict == line.Waiting && d.Place.Fresh && q.twin.known() {
			return s.merge(q)
		}
		return nil
	}
	// Nobody is there to be served: the origin must not hear of the request,
	// even when the grant came first.
	if d.Verdict == line.Admitted {
		s.cfg.Line.Release(now, d.Slot)
	}
	s.counters.gone.Add(1)
	return clientGone
}

// outcome is what becomes of a request that stands at the door for at most
// that long.
func (s *settings) outcome(ctx context.Context, door line.Door, most time.Duration) line.Decision {
	limit := time.NewTimer(most)
	defer limit.Stop()
	select {
	case <-door.Done():
		return door.Outcome()
	case <-ctx.Done():
		return door.Leave(s.cfg.Now(), true)
	case <-limit.C:
		return door.Leave(s.cfg.Now(), false)
	}
}

// turnAway answers a request that got no slot.
func (s *settings) turnAway(q *visit) (pipeline.Verdict, error) {
	switch verdict := q.decision.Verdict; verdict {
	case line.Waiting:
		if q.entry.NoPlace {
			break // a form or part with a ticket of old, which stays as it is
		}
		return s.answerWaiting(q)
	case line.Full:
		return pipeline.Answered, s.refusals.full.pick()
	case line.TooMany:
		return pipeline.Answered, s.refusals.tooMany.pick()
	case line.Shut:
		return pipeline.Answered, s.refusals.shut.pick()
	case line.Busy:
	default:
		return pipeline.Answered, fmt.Errorf("queue: BUG: the line answered with verdict %d", verdict)
	}
	switch q.caller {
	case form:
		s.counters.forms.Add(1)
		return pipeline.Answered, s.refusals.form.pick()
	case indexer:
		s.counters.crawlers.Add(1)
		return pipeline.Answered, s.refusals.crawler.pick()
	}
	s.counters.busy.Add(1)
	return pipeline.Answered, s.refusals.busy.pick()
}
