package line

import (
	"net/netip"
	"time"
)

// State is where a ticket stands.
type State uint8

const (
	StateWaiting State = iota // present, and not yet told to come
	StateCalled               // told to come
	StateDoor                 // a request stands at the door
	StateAbsent               // not seen for longer than its poll delay; keeps its place
)

// Place is what a visitor may know about their place.
type Place struct {
	Ticket   Ticket
	Fresh    bool // the ticket was issued by this very call
	State    State
	Position int           // 1 is next; the live tickets ahead plus one
	Ahead    int           // Position - 1
	ETA      time.Duration // expected wait; negative when it cannot be told
	// PollAfter is when to ask again: short near the front, longer further
	// back, with jitter.
	PollAfter time.Duration
	// SinceSeen is the time since the owner was last seen before this call;
	// negative when never.
	SinceSeen time.Duration
	Promoted  bool
}

// Ended is what became of a ticket that is no longer in line.
type Ended uint8

const (
	EndedUnknown  Ended = iota // nothing is known of such a ticket (any more)
	EndedAdmitted              // it was used
	EndedExpired               // its owner stayed away, or left on purpose
	EndedRemoved               // an operator or a ban took it out
)

// Status answers Poll.
type Status struct {
	// Known is false for a ticket the line does not hold: used, ended,
	// removed or never issued here.
	Known bool
	// Ended says what is remembered of a ticket that is not Known. Only Look
	// sets it, and only tickets that ended lately are remembered.
	Ended Ended
	// Ready says: come now, with a page request.
	Ready bool
	Place Place
}

// Stats are a line's counters and gauges.
type Stats struct {
	Settings Settings
	InFlight int // slots out
	Live     int // tickets held, whatever their state
	Present  int // of these, not absent
	AtDoor   int
	Called   int

	// MeanHold is the smoothed time a slot is held; 0 before the first.
	MeanHold time.Duration
	// AdmissionRate is measured admissions per second, smoothed.
	AdmissionRate float64
	// Utilization is the smoothed share of Policy.Cap in use, 0 to 1.
	Utilization float64

	QueuedTotal   uint64 // places given
	AdmittedTotal uint64 // slots given
	EvictedTotal  uint64 // tickets that ended unused, one each
	RemovedTotal  uint64 // tickets removed by an operator or a ban, one each
	PromotedTotal uint64
	TimeoutsTotal uint64 // requests that outlasted the door
	RefusedTotal  uint64 // Full and TooMany
	PassedTotal   uint64 // times a present ticket was passed over
	ReturnedTotal uint64 // tickets put back after a crash
}

// Occupant is one ticket as operators see it.
type Occupant struct {
	Place    Place
	Client   netip.Prefix
	LastSeen time.Time
	Polled   bool
	Rank     uint8 // with which the place was given
}
