package queue

import (
	"errors"
	"os"
	"time"
)

// bodyTime is how long a client may take to send the part of a body that is
// kept in memory for a request at the door.
const bodyTime = 10 * time.Second

// readBody reads the body into memory, so that the client's leaving shows, and
// so that a slow sender spends its own time and not a slot's.
func (s *settings) readBody(q *visit) error {
	err := q.HoldBody(bodyTime)
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
