package queue

import (
	"github.com/andreimerlescu/concert/cookies"
	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/signed"
)

// ParseTicket reads the value of a ticket's cookie and reports whether it is
// authentic: signed by keys, which must be made for [TicketPurpose].
func ParseTicket(keys *signed.Keyring, value string) (line.Ticket, bool) {
	t, verdict := openTicket(keys, value)
	return t, verdict == signed.Valid
}

// HasPlace reports whether the visit brings the ticket of a place in line. When
// the line cannot be reached it says no.
func (s *Stage) HasPlace(v *pipeline.Visit) bool {
	now := s.live.Load()
	for value := range cookies.Each(v.R.Header, now.ticketCookie) {
		t, authentic := now.parseTicket(value)
		if !authentic {
			continue
		}
		if st, err := now.look(&visit{Visit: v}, t); err == nil && st.Known {
			return true
		}
	}
	return false
}

// letPass lets a visit through that holds a slot already. A place that its
// visitor had in line is given up, as they have what it was for; a form leaves
// the place to the page that waits in it.
func (s *settings) letPass(v *pipeline.Visit) (pipeline.Verdict, error) {
	if !s.judge(v.R, wasIn(v)).takesPlace() {
		return pipeline.Next, nil
	}
	for value := range cookies.Each(v.R.Header, s.ticketCookie) {
		if t, authentic := s.parseTicket(value); authentic {
			// Should the line be out of reach, the place ends by itself.
			_ = s.cfg.Line.Quit(v.R.Context(), s.cfg.Now(), t)
		}
	}
	return pipeline.Next, nil
}
