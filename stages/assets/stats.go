package assets

// Stats are the stage's gauges and counters.
type Stats struct {
	Caps            Caps
	InFlight        int    // global slots held now
	Users           int    // passes with a pool
	Served          uint64 // requests let through
	UserThrottled   uint64 // refused because the pass's own pool stayed full
	GlobalThrottled uint64 // refused because the global pool stayed full
}

// Stats reads the counters. They are not read at one instant.
func (s *Stage) Stats() Stats {
	return Stats{
		Caps:            s.settings.Load().Caps,
		InFlight:        s.global.InUse(),
		Users:           s.users.Len(),
		Served:          s.served.Load(),
		UserThrottled:   s.userThrottled.Load(),
		GlobalThrottled: s.globalThrottled.Load(),
	}
}
