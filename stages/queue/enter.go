package queue

import (
	"fmt"
	"time"

	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/pipeline"
)

// maxSpent bounds how often one request may find its ticket used while it
// stood at the door. Once is the rule: it stands there without one next.
const maxSpent = 4

// visit is a page request on its way through the line.
type visit struct {
	*pipeline.Visit
	caller caller
	entry  line.Entry
	// brought is the ticket that came with the request, and value how.
	brought line.Ticket
	value   string
	// twin is what requests of the same visitor have in common; zero when the
	// request brought nothing authentic.
	twin twinKey
	// outdated says that the request brought a ticket that may have been issued
	// before a restart, with a key that is gone.
	outdated bool
}

// enterPage brings a page request before the line.
func (s *settings) enterPage(v *pipeline.Visit) (pipeline.Verdict, error) {
	if v.Seated {
		return s.letPass(v)
	}
	q := s.newVisit(v)
	if err := s.identify(&q); err != nil {
		return pipeline.Answered, err
	}
	if s.isRemoved(&q) {
		return pipeline.Answered, s.tellRemoved(v)
	}
	began := s.cfg.Now()
	if isPreflight(v.R) {
		// A remembered answer spares the preflight the door, where it would
		// stand before the request that it is about.
		if d, err := s.seekAtOnce(q); err != nil {
			return pipeline.Answered, err
		} else if d.Verdict == line.Admitted {
			return s.admit(&q, d, began)
		}
		if s.answerPreflight(&q) {
			return pipeline.Answered, nil
		}
	}
	d, err := s.seek(&q)
	if err != nil {
		return pipeline.Answered, err
	}
	if d.Verdict != line.Admitted {
		return s.turnAway(&q, d)
	}
	return s.admit(&q, d, began)
}

// newVisit is a page request before it is known which ticket it brings.
func (s *settings) newVisit(v *pipeline.Visit) visit {
	caller := s.judge(v.R, wasIn(v))
	return visit{Visit: v, caller: caller, entry: line.Entry{
		Client: v.Client.Key, Rank: uint8(v.Rank), Front: v.VIP,
		NoPlace: !caller.takesPlace(), MayHold: caller.mayHold(),
		Unlimited: s.cfg.Unlimited != nil && s.cfg.Unlimited(v.Client.Addr),
	}}
}

// admit lets a request through that holds a slot.
func (s *settings) admit(q *visit, d line.Decision, began time.Time) (pipeline.Verdict, error) {
	if s.cfg.Admitted != nil {
		now := began // who was let in at once has not waited, and the clock need not be read
		if q.Waited > 0 {
			now = s.cfg.Now()
		}
		if !q.entry.Ticket.IsZero() {
			began = q.entry.Ticket.Issued
		}
		s.cfg.Admitted(max(0, now.Sub(began)))
	}
	q.Hold(s, uint64(d.Slot))
	if isPreflight(q.R) {
		q.OnResponse(s)
	}
	return pipeline.Next, nil
}

// seek asks the line for a slot, and stands at the door for it.
func (s *settings) seek(q *visit) (line.Decision, error) {
	if q.entry.MayHold && q.HidesLeaving() {
		d, err := s.seekAtOnce(*q)
		if err != nil || d.Verdict != line.Busy {
			return d, err
		}
		if err := s.readBody(q); err != nil {
			return line.Decision{}, err
		}
	}
	for range maxSpent {
		d, err := s.ask(q)
		if err == nil && d.Verdict == line.AtDoor {
			d, err = s.stand(q, d)
		}
		if err != nil || d.Verdict != line.Spent {
			return d, err
		}
		if s.cfg.Recheck != nil {
			if _, err := s.cfg.Recheck(q.Visit); err != nil {
				return line.Decision{}, err
			}
		}
		if s.isRemoved(q) {
			return line.Decision{}, s.tellRemoved(q.Visit)
		}
		q.entry.Ticket = line.Ticket{}
	}
	q.entry.MayHold = false // who does not stand at the door cannot be overtaken there
	return s.ask(q)
}

// seekAtOnce asks for a slot without a place or a stand at the door, so that a
// body need not be read for a request that is admitted anyway.
func (s *settings) seekAtOnce(q visit) (line.Decision, error) {
	q.entry.NoPlace, q.entry.MayHold = true, false
	return s.enterLine(&q)
}

func (s *settings) enterLine(q *visit) (line.Decision, error) {
	ctx := q.R.Context()
	d, err := s.cfg.Line.Enter(ctx, s.cfg.Now(), q.entry)
	switch {
	case err == nil:
		if q.VIP && d.Place.Fresh && s.cfg.Fronted != nil {
			s.cfg.Fronted(q.Visit, d.Place.Ticket)
		}
		return d, nil
	case ctx.Err() != nil:
		return d, clientGone
	}
	return d, fmt.Errorf("queue: enter the line: %w", err)
}

// stand waits at the door until the outcome stands, the client leaves, or the
// time is up.
func (s *settings) stand(q *visit, d line.Decision) (line.Decision, error) {
	began := s.cfg.Now()
	limit := time.NewTimer(d.Until.Sub(began))
	defer limit.Stop()
	ctx := q.R.Context()
	door := d.Door
	select {
	case <-door.Done():
		d = door.Outcome()
	case <-ctx.Done():
		d = door.Leave(s.cfg.Now(), true)
	case <-limit.C:
		d = door.Leave(s.cfg.Now(), false)
	}
	q.Waited += s.cfg.Now().Sub(began)
	if ctx.Err() == nil {
		if d.Verdict == line.Waiting && d.Place.Fresh && q.twin.known() {
			return s.merge(q, d)
		}
		return d, nil
	}
	// Nobody is there to be served: the origin must not hear of the request,
	// even when the grant came first.
	if d.Verdict == line.Admitted {
		s.cfg.Line.Release(s.cfg.Now(), d.Slot)
	}
	s.counters.gone.Add(1)
	return line.Decision{}, clientGone
}

// turnAway answers a request that got no slot.
func (s *settings) turnAway(q *visit, d line.Decision) (pipeline.Verdict, error) {
	switch d.Verdict {
	case line.Waiting:
		if q.entry.NoPlace {
			break // a form or part with a ticket of old, which stays as it is
		}
		return s.answerWaiting(q, d.Place)
	case line.Full:
		return pipeline.Answered, s.refusals.full.pick()
	case line.TooMany:
		return pipeline.Answered, s.refusals.tooMany.pick()
	case line.Shut:
		return pipeline.Answered, s.refusals.shut.pick()
	case line.Busy:
	default:
		return pipeline.Answered, fmt.Errorf("queue: BUG: the line answered with verdict %d", d.Verdict)
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
