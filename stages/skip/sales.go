package skip

import "time"

// Sale is a promotion that was carried out, to be remembered beyond the process
// if it was for a payment.
type Sale struct {
	Payment   string // the payment's own reference; "" for none
	Ticket    uint64
	Position  int   // that was given
	PassUntil int64 // unix seconds; 0 for no pass
}

// Restore takes up what Sales returned, or what Config.Sold was told, oldest
// first.
func (s *Stage) Restore(sales []Sale, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range sales {
		s.sales.put(m.Payment, m)
		if m.PassUntil > now.Unix() {
			s.oweLocked(m.Ticket, m.PassUntil, now)
		}
	}
}

// Sales are the payments that are remembered, oldest first.
func (s *Stage) Sales() []Sale {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Sale, 0, len(s.sales.order))
	for _, payment := range s.sales.order {
		all = append(all, s.sales.entries[payment])
	}
	return all
}
