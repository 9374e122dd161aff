package line

import (
	"encoding/binary"
	"time"
)

// Ticket identifies a place in line. The queue stage signs it into a cookie;
// a line trusts what it is given. The zero Ticket means "none".
type Ticket struct {
	Number uint64    // unique for the line's whole life, also across restarts
	Issued time.Time // to the millisecond
}

// TicketSize is the length of what AppendBytes appends.
const TicketSize = 16

// IsZero reports whether t names no place.
func (t Ticket) IsZero() bool { return t.Number == 0 }

// AppendBytes appends the ticket for others to sign: its number and its issue
// time in milliseconds since 1970, 8 bytes each, most significant first.
func (t Ticket) AppendBytes(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(dst, t.Number)
	return binary.BigEndian.AppendUint64(dst, uint64(t.Issued.UnixMilli()))
}

// ReadTicket reads what AppendBytes wrote; ok is false for anything else, and
// for a ticket that names no place.
func ReadTicket(b []byte) (t Ticket, ok bool) {
	if len(b) != TicketSize {
		return Ticket{}, false
	}
	t = Ticket{Number: binary.BigEndian.Uint64(b), Issued: time.UnixMilli(int64(binary.BigEndian.Uint64(b[8:])))}
	return t, !t.IsZero()
}
