package ban

// Stats are the stage's own counters; the registry has the others.
type Stats struct {
	Rejected uint64 // requests of clients that were banned already
}

// Stats reads the counters.
func (s *Stage) Stats() Stats { return Stats{Rejected: s.rejected.Load()} }
