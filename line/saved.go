package line

import (
	"net/netip"
	"time"
)

// Snapshot is a line at rest, in line order.
type Snapshot struct {
	Taken   time.Time
	Next    uint64 // the next ticket number
	Tickets []SavedTicket

	// Line tells the changes of this line from those of other processes, and
	// Sequence is the last [Change] in the snapshot; 0 of a line that records
	// none.
	Line, Sequence uint64
	// Whole says that nothing below Next is missing but what is Lost, though
	// later tickets may be.
	Whole bool
	// Lost are numbers that may exist without being known, since a crash not
	// long ago.
	Lost []Span
}

// Span are the ticket numbers from From up to, and without, To.
type Span struct{ From, To uint64 }

// SavedTicket is one ticket of a Snapshot.
type SavedTicket struct {
	Ticket   Ticket
	Client   netip.Prefix
	LastSeen time.Time
	Polled   bool
	Promoted bool
	Rank     uint8
	// Absent: the owner had been silent for too long, or stood at a door where
	// they may still be let in. The place is kept, and nobody waits for them.
	Absent bool
	// AtDoor: a request stood at the door. After a crash, which cut it off, its
	// owner is on the way back.
	AtDoor bool
	// PollAfter is how long after LastSeen the owner was expected to ask again,
	// to the millisecond; 0: not known.
	PollAfter time.Duration
}

// ChangeKind is what a Change does.
type ChangeKind uint8

const (
	Put  ChangeKind = iota // a ticket was given its place, or moved
	Seen                   // an owner asked for the first time, or after an absence
	Drop                   // a ticket ended, whatever the reason
)

// Change is a change of the line. A Snapshot with the changes after it is the
// line as it was then, save for when its tickets were last seen.
type Change struct {
	Sequence uint64 // one more than that of the change before
	Kind     ChangeKind
	// Ticket is all of it for Put; its number, LastSeen and PollAfter for
	// Seen; its number for Drop.
	Ticket SavedTicket
	Before uint64 // for Put, the number of the ticket right behind; 0: the end
}

// Journaled is a Line that tells of its changes.
type Journaled interface {
	Line
	// Changes moves the changes since the last call to the end of into. When
	// there were too many to keep, some are missing, as a gap in their
	// sequence shows.
	Changes(into []Change) []Change
}
