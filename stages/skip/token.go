package skip

import (
	"encoding/binary"
	"time"

	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/signed"
)

// A reference's payload: the ticket's number and its issue time in unix
// milliseconds, 8 bytes each, big-endian.
const refSize = 16

func appendRef(dst []byte, t line.Ticket) []byte {
	dst = binary.BigEndian.AppendUint64(dst, t.Number)
	return binary.BigEndian.AppendUint64(dst, uint64(t.Issued.UnixMilli()))
}

// ticketOf reads a reference and reports whether it is authentic.
func (c *settings) ticketOf(ref string) (line.Ticket, bool) {
	var buf [refSize]byte
	p, verdict := c.Refs.Open(buf[:0], ref)
	if verdict != signed.Valid || len(p) != refSize {
		return line.Ticket{}, false
	}
	t := line.Ticket{Number: binary.BigEndian.Uint64(p), Issued: time.UnixMilli(int64(binary.BigEndian.Uint64(p[8:])))}
	return t, !t.IsZero()
}

// Ticket reads the reference that a waiting page shows, and reports whether it
// is authentic.
func (s *Stage) Ticket(ref string) (line.Ticket, bool) { return s.settings.Load().ticketOf(ref) }
