package queue

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/andreimerlescu/concert/line"
)

// minPollGap is the least time between two polls of one ticket that are both
// answered in full.
const minPollGap = time.Second

// paceTable remembers when a ticket's poll was last answered in full. It has
// one cell for each group of ticket numbers, and a cell remembers the latest
// of its group only: a forgotten poll lets the next one through too early,
// which harms nobody.
//
// A cell holds the low 32 bits of the ticket number and, below them, the time
// in milliseconds modulo 2^32 (50 days).
type paceTable [1 << 14]atomic.Uint64

// since returns how long ago the ticket's last full answer was; false when that
// is forgotten.
func (p *paceTable) since(now time.Time, t line.Ticket) (time.Duration, bool) {
	cell := p[t.Number%uint64(len(p))].Load()
	if cell == 0 || uint32(cell>>32) != uint32(t.Number) {
		return 0, false
	}
	ago := uint32(now.UnixMilli()) - uint32(cell)
	if ago > math.MaxInt32 {
		return 0, true // another request was answered later than this one's clock reading
	}
	return time.Duration(ago) * time.Millisecond, true
}

func (p *paceTable) answered(now time.Time, t line.Ticket) {
	p[t.Number%uint64(len(p))].Store(uint64(uint32(t.Number))<<32 | uint64(uint32(now.UnixMilli())))
}

// renews reports whether the cookies are due to be sent again: whether a third
// of their lifetime, counted from the ticket's issue, ended since the last
// answer. Nothing has to be stored for it, and a visitor who polls gets three
// chances before the browser drops the cookie.
func (s *settings) renews(now time.Time, t line.Ticket, since time.Duration) bool {
	third := s.cfg.TicketTTL / 3
	age := now.Sub(t.Issued)
	return since >= 0 && age/third > max(0, age-since)/third
}
