package line

import (
	"time"
)

// Policy says how fast people are let in. Both limits apply at once.
type Policy struct {
	Cap int // most slots out at once, ≥ 1; 0 means no concurrency limit

	// Inflow admissions are allowed per Interval; 0 means no rate limit.
	// At most Burst of them (≥ 1; 0 means Inflow) may come at once, and
	// nothing is saved up while nobody waits.
	Inflow   int
	Interval time.Duration
	Burst    int
}

// Settings are everything an operator may change while the line runs.
type Settings struct {
	Policy Policy
	Mode   Mode

	// MaxWaiting refuses new places beyond this many live tickets; 0: no
	// limit. A newcomer who can stand at the door is not refused by it.
	MaxWaiting int
	// PerClient bounds the live tickets of one client key; 0: no limit.
	PerClient int
	// RankLead is the head start a rank is worth, in places: whoever joins
	// with rank r stands as if they had come r×RankLead arrivals earlier. So a
	// ticket is overtaken at most RankLead times for each rank above its own,
	// all of it by those who come soon after. 0: ranks mean nothing.
	RankLead int
	// TTL is a ticket's sliding lifetime (30s to 24h): it ends this long
	// after its owner was last seen.
	TTL time.Duration
	// FirstPollGrace ends a ticket that was never seen again after it was
	// issued; 0 means TTL applies from the start.
	FirstPollGrace time.Duration
	// Sweep is how often ended tickets are removed from the line.
	Sweep time.Duration
	// DoorMax bounds the requests held at the door; 0 holds none.
	DoorMax int
	// DoorWait bounds how long a request stands at the door beyond the time
	// its turn was expected.
	DoorWait time.Duration
}
