package abuse

import "time"

// Stats are the registry's counters.
type Stats struct {
	Tracked    int    // clients with strikes that may count, with bans or with former bans
	RangeBans  int    // ranges banned now
	StrikesAll uint64 // acts that clients were struck for
	BansAll    uint64 // bans made, those of ranges and replaced ones included
	DroppedAll uint64 // acts that found no place on the roster
}

// Stats reads the counters; they are not read at one instant.
func (r *Registry) Stats(now time.Time) Stats {
	s := Stats{StrikesAll: r.strikes.Load(), BansAll: r.bans.Load(), DroppedAll: r.dropped.Load()}
	for b := range r.wide.Load().each {
		if b.Active(now) {
			s.RangeBans++
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s.Tracked = len(r.roster.clients)
	return s
}
