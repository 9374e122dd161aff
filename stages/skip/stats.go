package skip

// Stats are the stage's counters since it was built.
type Stats struct {
	Promoted  uint64 // promotions carried out
	Repeated  uint64 // calls with a payment that was carried out before
	Refused   uint64 // promotions refused: no such ticket, or a payment of another
	Delivered uint64 // answers with a pass
	PassUsed  uint64 // requests with a valid pass
	Shared    uint64 // pages asked for with a pass of somebody else, or one that has a place already
	Owed      int    // passes still to be delivered
}

// Stats reads the counters. They are not read at one instant.
func (s *Stage) Stats() Stats {
	return Stats{
		Promoted: s.promoted.Load(), Repeated: s.repeated.Load(), Refused: s.refused.Load(),
		Delivered: s.delivered.Load(), PassUsed: s.used.Load(), Shared: s.shared.Load(), Owed: int(s.owing.Load()),
	}
}
