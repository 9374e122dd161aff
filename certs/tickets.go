package certs

import (
	"crypto/rand"
	"crypto/tls"
	"slices"
	"time"
)

const (
	// ticketLife is how long a key makes tickets; it opens them for as long
	// again as there are other keys.
	ticketLife = 12 * time.Hour
	ticketKeys = 3
)

// Tickets are the keys of session tickets, the newest first: what a successor
// needs to know the clients of this process.
type Tickets struct {
	Keys [][32]byte `json:"keys"`
	Made time.Time  `json:"made"` // when the first was
}

// renewed returns the keys as they should be now; the same when nothing is due.
func (t Tickets) renewed(now time.Time) (next Tickets, changed bool) {
	if len(t.Keys) > 0 && now.Sub(t.Made) < ticketLife {
		return t, false
	}
	var fresh [32]byte
	rand.Read(fresh[:]) // never fails
	keys := slices.Concat([][32]byte{fresh}, t.Keys)
	return Tickets{keys[:min(len(keys), ticketKeys)], now}, true
}

// bind ties a session to the server name it was made for.
func bind(config *tls.Config) {
	config.WrapSession = func(cs tls.ConnectionState, s *tls.SessionState) ([]byte, error) {
		s.Extra = append(s.Extra, []byte(nameMark+folded(cs.ServerName)))
		return config.EncryptTicket(cs, s)
	}
	config.UnwrapSession = func(ticket []byte, cs tls.ConnectionState) (*tls.SessionState, error) {
		s, err := config.DecryptTicket(ticket, cs)
		if err != nil || s == nil {
			return nil, err // not ours: a full handshake
		}
		want := nameMark + folded(cs.ServerName)
		if !slices.ContainsFunc(s.Extra, func(b []byte) bool { return string(b) == want }) {
			return nil, nil
		}
		return s, nil
	}
}

// nameMark tells the extra data of a ticket from that of other layers.
const nameMark = "name:"
