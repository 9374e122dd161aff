package priority

import (
	"sync"
	"sync/atomic"

	"github.com/andreimerlescu/concert/pipeline"
)

type counters struct {
	ranks                                   [pipeline.NumRanks]atomic.Uint64
	served, full, gone, forms, formsRefused atomic.Uint64
	grants, cleared, rejected, outdated     atomic.Uint64
}

// Stats are the stage's counters since it was built, and its gauges.
type Stats struct {
	LaneCap      int // as of the last visit that looked for a slot
	LaneInFlight int
	LaneWaiting  int

	Requests     [pipeline.NumRanks]uint64 // page requests by rank
	Served       uint64                    // slots of the lane given
	Full         uint64                    // visits that found no room to wait in the lane, or waited in vain
	Gone         uint64                    // clients that hung up while they waited
	Forms        uint64                    // forms that might use the lane
	FormsRefused uint64                    // of these, told that nothing was sent
	Grants       uint64                    // ranks granted, renewals included
	Cleared      uint64                    // grants cleared by guest
	Rejected     uint64                    // headers that could not be understood
	Outdated     uint64                    // grants brought that a newer one had replaced
	Forgotten    uint64                    // passes whose newest grant had to be forgotten
}

// Stats reads the counters. They are not read at one instant.
func (s *Stage) Stats() Stats {
	c := &s.counters
	st := Stats{
		Served: c.served.Load(), Full: c.full.Load(), Gone: c.gone.Load(),
		Forms: c.forms.Load(), FormsRefused: c.formsRefused.Load(),
		Grants: c.grants.Load(), Cleared: c.cleared.Load(), Rejected: c.rejected.Load(),
		Outdated: c.outdated.Load(), Forgotten: s.newest.forgotten.Load(),
	}
	st.LaneCap, st.LaneInFlight, st.LaneWaiting = s.lane.gauges()
	for r := range st.Requests {
		st.Requests[r] = c.ranks[r].Load()
	}
	return st
}

const (
	maxOddities = 50 // distinct values that are logged
	maxOddText  = 64 // bytes of a value that are logged
)

// oddities remembers which values were logged, so that a mistake in the
// application does not fill the log.
type oddities struct {
	mu   sync.Mutex // guards the field below
	seen map[string]struct{}
}

// first reports whether a value is to be logged, and what of it.
func (o *oddities) first(value string) (string, bool) {
	value = value[:min(len(value), maxOddText)]
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, known := o.seen[value]; known || len(o.seen) >= maxOddities {
		return "", false
	}
	if o.seen == nil {
		o.seen = make(map[string]struct{})
	}
	o.seen[value] = struct{}{}
	return string([]byte(value)), true
}
