package abuse

import (
	"math"
	"net/netip"
	"time"
)

// What started a ban, besides the acts that a client was struck for.
const (
	CauseTrap     = "ban-path" // a request for a ban path
	CauseOperator = "operator"
)

// Ban is one ban, running or over. It never changes: a client's next ban is
// another value.
type Ban struct {
	// Client is whom it holds for: an IPv4 address (/32), an IPv6 /64, or a
	// range.
	Client netip.Prefix
	Since  time.Time
	Until  time.Time // the zero Time when it is permanent
	// Offenses counts the client's bans so far, this one included.
	Offenses int
	Cause    string // the act that brought the strikes to the limit, CauseTrap or CauseOperator
	Note     string // an operator's remark, or the ban path
	By       string // who ordered it; "" for one that came by itself
}

// Permanent reports whether the ban lasts until somebody lifts it.
func (b *Ban) Permanent() bool { return b.Until.IsZero() }

// Range reports whether the ban holds for more than one client.
func (b *Ban) Range() bool { return isRange(b.Client) }

// Active reports whether the ban holds at the time now.
func (b *Ban) Active(now time.Time) bool { return b.Permanent() || now.Before(b.Until) }

// Remaining returns how long the ban goes on: 0 when it is over, and the
// longest Duration when it is permanent.
func (b *Ban) Remaining(now time.Time) time.Duration {
	if b.Permanent() {
		return math.MaxInt64
	}
	return max(0, b.Until.Sub(now))
}

// longer returns the one of two bans that ends later, a when they end together;
// either may be nil.
func longer(a, b *Ban) *Ban {
	switch {
	case a == nil:
		return b
	case b == nil, a.Permanent():
		return a
	case b.Permanent(), a.Until.Before(b.Until):
		return b
	}
	return a
}

// escalate returns the length of a client's n-th ban (from 1): first, doubled
// each time, and never more than most.
func escalate(first, most time.Duration, n int) time.Duration {
	length := first
	for ; n > 1 && length < most; n-- {
		if length > most/2 {
			return most // doubling could overflow
		}
		length *= 2
	}
	return min(length, most)
}
