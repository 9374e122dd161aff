package skip

import (
	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/signed"
)

// ticketOf reads a reference and reports whether it is authentic.
func (c *settings) ticketOf(ref string) (line.Ticket, bool) {
	var buf [line.TicketSize]byte
	payload, verdict := c.Refs.Open(buf[:0], ref)
	if verdict != signed.Valid {
		return line.Ticket{}, false
	}
	return line.ReadTicket(payload)
}

// Ticket reads the reference that a waiting page shows, and reports whether it
// is authentic.
func (s *Stage) Ticket(ref string) (line.Ticket, bool) { return s.settings.Load().ticketOf(ref) }
