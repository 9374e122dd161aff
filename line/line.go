package line

import (
	"context"
	"errors"
	"net/netip"
	"time"
)

// Line is one waiting room. All methods are safe for concurrent use. An error
// means that the line could not be reached, never a refusal.
type Line interface {
	// Enter judges a page request.
	Enter(ctx context.Context, now time.Time, e Entry) (Decision, error)
	// Release gives a slot back once the response is delivered.
	Release(now time.Time, s Slot)
	// Poll answers a visitor who asks after their place and marks them seen.
	Poll(ctx context.Context, now time.Time, t Ticket) (Status, error)
	// Look is Poll for an operator: it changes nothing.
	Look(ctx context.Context, now time.Time, t Ticket) (Status, error)
	// Quit removes a ticket whose owner leaves the line on purpose.
	Quit(ctx context.Context, now time.Time, t Ticket) error

	// Configure swaps the settings. A smaller cap lets nobody in until enough
	// slots have come back; a larger one admits at once.
	Configure(ctx context.Context, now time.Time, s Settings) error
	// Promote moves a ticket to a position: 1 is the very front, [Front] the
	// first place behind earlier promotions. No two tickets ever share a place.
	Promote(ctx context.Context, now time.Time, t Ticket, position int) error
	// Remove takes a ticket out of the line.
	Remove(ctx context.Context, now time.Time, t Ticket) error
	// RemoveClients takes out every ticket of the clients inside p, except of
	// those inside one of spare.
	RemoveClients(ctx context.Context, now time.Time, p netip.Prefix, spare ...netip.Prefix) (int, error)
	// List returns count tickets from position first+1 on, in line order.
	// Its cost does not depend on first.
	List(ctx context.Context, now time.Time, first, count int) ([]Occupant, error)

	// Snapshot copies the line; Restore fills an empty one, charging the
	// downtime to every ticket. returning allows tickets issued before the
	// snapshot line began and missing from it to be put back at their
	// number, once each (after a crash).
	Snapshot(ctx context.Context, now time.Time) (Snapshot, error)
	Restore(ctx context.Context, now time.Time, s Snapshot, returning bool) error

	Stats(now time.Time) Stats

	// Advance does what the passage of time alone brings: expiry, grants by
	// rate, slots kept for somebody who did not come. It returns when it
	// wants to be called next; zero: not until Wake says so.
	Advance(ctx context.Context, now time.Time) (next time.Time, err error)
	// Wake receives a value when the time Advance last returned is stale.
	Wake() <-chan struct{}
}

// Entry is a page request that wants a slot.
type Entry struct {
	Ticket Ticket       // zero when the request brought no authentic ticket
	Client netip.Prefix // who asks: an IPv4 /32 or an IPv6 /64
	// Rank is how important the application says the visitor is; 0 is the
	// least. It counts when a place is given: see Settings.RankLead.
	Rank uint8
	// Front gives a new place at the front, as Promote to [Front] would, and
	// gives it although the line is full.
	Front bool
	// NoPlace marks a request that must not be given a place: a HEAD, a
	// prefetch, a form. It is admitted, or held at the door when MayHold is
	// set, or told Busy.
	NoPlace bool
	// Unlimited lifts Settings.PerClient for this entry: many people share the
	// client's address.
	Unlimited bool
	// MayHold says that the request can be kept waiting at the door.
	MayHold bool
}

// Verdict is what became of an Entry.
type Verdict uint8

const (
	// Admitted: Decision.Slot is held until Release.
	Admitted Verdict = iota
	// AtDoor: wait on Decision.Door.
	AtDoor
	// Waiting: Decision.Place is the place in line.
	Waiting
	// Busy: no slot now, and the entry wanted no place.
	Busy
	// Full: MaxWaiting is reached; the entry got no place.
	Full
	// TooMany: PerClient is reached; the entry got no place.
	TooMany
	// Shut: the line is Closed.
	Shut
	// Spent: the ticket was used by another request, or taken out of the
	// line, while this one stood at the door with it. Enter again without a
	// ticket.
	Spent
)

// Slot is a permission to be at the origin.
type Slot uint64

// Decision answers Enter.
type Decision struct {
	Verdict Verdict
	Slot    Slot
	Door    Door
	// Until is when a request at the door should give up (Door.Leave).
	Until time.Time
	Place Place
}

// Door is a request's stand at the door. It is for one goroutine.
type Door interface {
	// Done is closed once the outcome stands.
	Done() <-chan struct{}
	// Outcome is valid after Done: Admitted or Spent; or what Leave would say,
	// when a line that is elsewhere has lost the request.
	Outcome() Decision
	// Leave gives up. The answer is Admitted (with the slot, to be released
	// by the caller) when the grant came first; otherwise Waiting with the
	// place kept, or Busy for an entry that wanted no place.
	// gone says that the client hung up: a place it was never told of ends.
	Leave(now time.Time, gone bool) Decision
}

// Front as a position for Promote is the front, behind the tickets that were
// promoted before and are still there: first paid, first served.
const Front = 0

// Errors of the operator's verbs.
var (
	ErrUnknownTicket = errors.New("line: no such ticket in line")
	ErrNoPosition    = errors.New("line: position out of range")
)
