package line

import (
	"testing"
	"time"
)

// TestTicketBytes: what is signed is what comes back, and nothing else is a
// ticket.
func TestTicketBytes(t *testing.T) {
	ticket := Ticket{Number: 1_700_000_000_000_001, Issued: time.UnixMilli(1_700_000_000_123)}
	b := ticket.AppendBytes([]byte("before"))[len("before"):]
	if got, ok := ReadTicket(b); !ok || got != ticket {
		t.Errorf("%x is read as %+v, %v", b, got, ok)
	}
	for name, b := range map[string][]byte{
		"nothing": nil, "too short": b[:TicketSize-1], "too long": append(b[:TicketSize:TicketSize], 0),
		"no number": Ticket{Issued: ticket.Issued}.AppendBytes(nil),
	} {
		if got, ok := ReadTicket(b); ok {
			t.Errorf("%s is read as %+v", name, got)
		}
	}
}
