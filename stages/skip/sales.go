package skip

import "time"

// sale is a promotion that was carried out.
type sale struct {
	ticket    uint64
	position  int
	passUntil int64 // unix seconds; 0 for none
}

// Sale is a promotion for a payment, to be remembered beyond the process.
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
		s.sales.put(m.Payment, sale{m.Ticket, m.Position, m.PassUntil})
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
		m := s.sales.entries[payment]
		all = append(all, Sale{payment, m.ticket, m.position, m.passUntil})
	}
	return all
}
