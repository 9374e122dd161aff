package queue

import "sync/atomic"

// counters are the stage's own; the line counts places and admissions.
type counters struct {
	pages, answers, busy, forms, gone, polls, hasty, left, crawlers, preflights, cookieless atomic.Uint64
}

// Stats are the stage's counters since it was built. What the line counts
// (places, admissions, refusals) is in line.Stats.
type Stats struct {
	Pages       uint64 `json:"waiting_pages_total"`       // waiting pages sent
	Answers     uint64 `json:"waiting_answers_total"`     // JSON answers to programs that wait
	Busy        uint64 `json:"busy_total"`                // parts and glimpses refused
	FormsUnsent uint64 `json:"forms_unsent_total"`        // forms told that nothing was sent
	Gone        uint64 `json:"left_at_door_total"`        // clients that hung up at the door
	Polls       uint64 `json:"polls_total"`               // status requests of tickets, hasty ones included
	HastyPolls  uint64 `json:"polls_hasty_total"`         // within a second of the last
	Left        uint64 `json:"places_given_back_total"`   // places given up on purpose
	Crawlers    uint64 `json:"crawlers_refused_total"`    // search crawlers told to come back later
	Preflights  uint64 `json:"preflights_answered_total"` // preflights answered as the origin did before
	Cookieless  uint64 `json:"cookieless_total"`          // visitors told that their browser keeps no cookies
}

// Stats reads the counters.
func (s *Stage) Stats() Stats {
	c := &s.counters
	return Stats{
		Pages: c.pages.Load(), Answers: c.answers.Load(), Busy: c.busy.Load(), FormsUnsent: c.forms.Load(),
		Gone: c.gone.Load(), Polls: c.polls.Load(), HastyPolls: c.hasty.Load(), Left: c.left.Load(),
		Crawlers: c.crawlers.Load(), Preflights: c.preflights.Load(), Cookieless: c.cookieless.Load(),
	}
}
