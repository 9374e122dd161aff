package queue

import (
	"fmt"
	"net/http"

	"github.com/andreimerlescu/concert/cookies"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/stages/queue/page"
)

// enterLeave answers LeavePath: POST gives the place up, GET shows the page a
// browser is sent to afterwards.
func (s *settings) enterLeave(v *pipeline.Visit) (pipeline.Verdict, error) {
	switch v.R.Method {
	case http.MethodPost:
		return pipeline.Answered, s.leave(v)
	case http.MethodGet, http.MethodHead:
		s.sendFarewell(v)
		return pipeline.Answered, nil
	case http.MethodOptions:
		return answerOptions(v, allowsLeave)
	}
	v.W.Header()["Allow"] = allowsLeave
	return pipeline.Answered, wrongMethod
}

// leave takes the visitor's tickets out of the line. Only the waiting page's
// own origin may ask for it, or a client that is no browser.
func (s *settings) leave(v *pipeline.Visit) error {
	if err := s.origins.Check(v.R); err != nil {
		return &pipeline.Refusal{Reason: pipeline.Forbidden, Err: fmt.Errorf("queue: leave the line: %w", err)}
	}
	for value := range cookies.Each(v.R.Header, s.ticketCookie) {
		t, authentic := s.parseTicket(value)
		if !authentic {
			continue
		}
		if err := s.cfg.Line.Quit(v.R.Context(), s.cfg.Now(), t); err != nil {
			return fmt.Errorf("queue: leave the line with ticket %d: %w", t.Number, err)
		}
		s.counters.left.Add(1)
	}
	s.clearTicket(v)
	return s.left(v)
}

// left answers whoever has no place any more.
func (s *settings) left(v *pipeline.Visit) error {
	v.SetFields(private)
	if pipeline.WantsHTML(v.R) {
		v.W.Header()["Location"] = []string{page.InRoom(LeavePath, s.cfg.Room)}
		v.W.WriteHeader(http.StatusSeeOther)
		return nil
	}
	v.W.WriteHeader(http.StatusNoContent)
	return nil
}

func (s *settings) sendFarewell(v *pipeline.Visit) {
	s.sendDocument(v, http.StatusOK, s.farewell, page.Values{})
}

// isRemoved reports whether an operator took the visitor's ticket away.
func (s *settings) isRemoved(q *visit) bool {
	return s.cfg.Removed != nil && !q.entry.Ticket.IsZero() && s.cfg.Removed(q.entry.Ticket)
}

// tellRemoved refuses a visitor whose ticket was taken away, and has the browser
// forget it: who opens the page again is a newcomer.
func (s *settings) tellRemoved(v *pipeline.Visit) error {
	s.clearTicket(v)
	return removed
}
