package pass

// Stats are the stage's counters. Forged passes are counted as strikes.
type Stats struct {
	Issued       uint64 // passes with a new id
	Renewed      uint64 // passes signed anew with the id they had
	Stale        uint64 // requests with nothing better than a stale pass
	AssetDenied  uint64 // assets refused for want of a valid pass
	StreamDenied uint64 // streams refused for want of a valid pass
}

// Stats reads the counters. They are not read at one instant.
func (s *Stage) Stats() Stats {
	return Stats{
		Issued:       s.issued.Load(),
		Renewed:      s.renewed.Load(),
		Stale:        s.stale.Load(),
		AssetDenied:  s.assetDenied.Load(),
		StreamDenied: s.streamDenied.Load(),
	}
}
