package queue

import (
	"errors"
	"os"
)

// readBody reads the body into memory, so that the client's leaving shows, and
// so that a slow sender spends its own time and not a slot's.
func (s *settings) readBody(q *visit) error {
	err := q.HoldBody()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return s.tooSlow(q)
	}
	s.counters.gone.Add(1)
	return clientGone
}

// tooSlow refuses a request whose body did not come in time.
func (s *settings) tooSlow(q *visit) error {
	if q.caller == form {
		s.counters.forms.Add(1)
		return s.refusals.form.pick()
	}
	return badRequest
}
