package stream

// Stats are the stage's gauges and counters.
type Stats struct {
	Cap       int
	Active    int    // streams open now
	Served    uint64 // streams let through
	Throttled uint64 // refused because every slot was taken
}

// Stats reads the counters. They are not read at one instant.
func (s *Stage) Stats() Stats {
	return Stats{
		Cap:       s.gate.Cap(),
		Active:    s.gate.InUse(),
		Served:    s.served.Load(),
		Throttled: s.throttled.Load(),
	}
}
