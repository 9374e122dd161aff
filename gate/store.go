package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/andreimerlescu/concert/persist"
)

// Ticket is a place in a room's line as a token carries it.
type Ticket struct {
	// Epoch is the life of the room the ticket belongs to; a reset begins a
	// new one.
	Epoch int64
	// Number is the place; 1 is the first of the epoch.
	Number uint64
	// Run tells tickets of the same number apart, should a store have lost the
	// last ones it gave out in a crash.
	Run int64
	// Turn counts the tokens made for the ticket. Only the latest is good.
	Turn uint32
}

// State is a room's: what an operator's switches amount to.
type State string

// The states.
const (
	Open   State = "open"   // visitors are let in at the inflow
	Paused State = "paused" // nobody is let in; tickets are given
	Closed State = "closed" // nobody is let in, no tickets are given
)

// Status is where a ticket stands.
type Status struct {
	Ticket   Ticket // with the turn of the token to be made now
	Admitted bool   // the ticket can be exchanged
	Position uint64 // 1 is next; 0 when admitted
	Ahead    uint64 // Position - 1, or 0
	// ETA is ceil(Ahead / inflow) intervals; negative when it cannot be told.
	ETA time.Duration
	// PollAfter is when to ask again, 1 s to [MaxPoll].
	PollAfter time.Duration
	Room      Room
	State     State
}

// Wait fills in where a ticket stands that waits, while admitted have been let
// in. turn is the time until as many more are.
func (s *Status) Wait(admitted uint64, turn func(n uint64) time.Duration) {
	s.Position = s.Ticket.Number - admitted
	s.Ahead = s.Position - 1
	if s.State != Open {
		s.ETA, s.PollAfter = -1, MaxPoll
		return
	}
	inflow := uint64(s.Room.Inflow)
	s.ETA = time.Duration((s.Ahead+inflow-1)/inflow) * s.Room.Interval()
	s.PollAfter = max(time.Second, min(MaxPoll, turn(s.Position)))
}

// MaxPoll is the longest time between two polls, and so the time within which
// people who share a queue token find out.
const MaxPoll = 10 * time.Second

// ClaimTime is how long an admitted visitor is counted by [Room.Cap] without
// having exchanged the ticket.
const ClaimTime = time.Minute

// Grant is an exchanged ticket.
type Grant struct {
	Ticket Ticket
	Room   Room
	// At is when the ticket was first exchanged, to the second; exchanging it
	// again gives the same, for an answer may be lost.
	At time.Time
	// Until is when the access ends.
	Until time.Time
}

// Live is a room with its counters.
type Live struct {
	Room
	State       State     `json:"status"`
	Issued      uint64    `json:"issued"`
	Admitted    uint64    `json:"admitted"`
	QueueLength uint64    `json:"queue_length"`
	PassedTotal uint64    `json:"passed_total"` // tickets exchanged
	OnSite      int       `json:"on_site"`      // counted by Cap; 0 without one
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
}

// MinutesKept is how far back passes are known by the minute.
const MinutesKept = 60

// Minute is how many tickets were exchanged in one minute.
type Minute struct {
	Minute time.Time `json:"minute"` // its beginning
	Passed uint64    `json:"passed"`
}

// Stats are a room's, since it was made or reset. Rates are per minute; the
// times of peaks are zero where there was none.
type Stats struct {
	Passed          uint64
	PeakQueue       uint64
	PeakQueueAt     time.Time
	PeakRate        uint64
	PeakRateAt      time.Time
	PassedPerMinute []Minute // the last hour up to now, the oldest first
}

// Action is an operator's switch.
type Action string

// The actions.
const (
	// Pause lets nobody in until Resume or OpenGates.
	Pause Action = "pause"
	// Resume ends a pause: admission goes on at the inflow.
	Resume Action = "resume"
	// OpenGates ends a pause and lets in everybody who is in line now,
	// whatever the inflow, as far as the cap allows.
	OpenGates Action = "open"
	// Reset begins anew: tickets, counters and statistics are gone.
	Reset Action = "reset"
)

// actions returns every action.
func actions() []Action { return []Action{Pause, Resume, OpenGates, Reset} }

// Check reports an action there is not as an *InvalidError.
func (a Action) Check() error {
	if slices.Contains(actions(), a) {
		return nil
	}
	return &InvalidError{[]string{fmt.Sprintf("action %q: want pause, resume, open or reset", a)}}
}

// Decide is what an action makes of a room: whether it is paused, and when its
// line began, in Unix milliseconds.
func (a Action) Decide(paused bool, epoch int64, now time.Time) (bool, int64) {
	if a == Reset {
		return paused, max(epoch+1, now.UnixMilli())
	}
	return a == Pause, epoch
}

// The errors of a Store, besides *InvalidError and those of the store itself.
var (
	ErrNoRoom     = errors.New("there is no such room")
	ErrRoomExists = errors.New("there is a room of that name already")
	ErrNoMessage  = errors.New("there is no such message")
	// ErrClosed refuses a ticket: the room is closed.
	ErrClosed = errors.New("the room is closed")
	// ErrFull refuses a ticket, room or message: there are too many.
	ErrFull = errors.New("there are too many already")
	// ErrGone is about a ticket that the room does not know (any more): it
	// ended, or the room was reset.
	ErrGone = errors.New("the ticket is not valid any more")
	// ErrUsed is about a ticket whose access has come to its end.
	ErrUsed = errors.New("the ticket was used")
	// ErrBurnt is about a token that is not the ticket's latest. It burns the
	// latest, too: somebody else may have it.
	ErrBurnt = errors.New("the token was used by somebody else")
	// ErrAway is the answer of a store that has handed its rooms on to another
	// process, which answers a moment later.
	ErrAway = errors.New("the rooms are moving to another process")
	// ErrUnavailable: the store cannot be reached, or is too busy.
	ErrUnavailable = errors.New("the waiting room cannot be reached")
	// ErrNotYet refuses an exchange: the turn has not come.
	ErrNotYet = errors.New("it is not the ticket's turn yet")
)

// Store keeps rooms. Methods that take a room's id give ErrNoRoom for an
// unknown one. What an operator asks for is kept when it returns nil, and has
// not happened otherwise.
type Store interface {
	// Create makes a room. The error is ErrRoomExists, ErrFull or an
	// *InvalidError.
	Create(ctx context.Context, now time.Time, by persist.By, r Room) (Live, error)
	Rooms(ctx context.Context, now time.Time) ([]Live, error) // by ID
	Room(ctx context.Context, now time.Time, id string) (Live, error)
	Update(ctx context.Context, now time.Time, by persist.By, id string, p Patch) (Live, error)
	Act(ctx context.Context, now time.Time, by persist.By, id string, a Action) (Live, error)
	// Delete takes a room away, with its counters, messages and audit.
	Delete(ctx context.Context, now time.Time, id string) error

	Messages(ctx context.Context, id string) ([]Message, error) // the oldest first
	AddMessage(ctx context.Context, now time.Time, by persist.By, id string, m Message) (Message, error)
	UpdateMessage(ctx context.Context, now time.Time, by persist.By, id, message string, p MessagePatch) (Message, error)
	DeleteMessage(ctx context.Context, now time.Time, by persist.By, id, message string) error

	// Audit returns what operators did, the latest first, at most n acts.
	Audit(ctx context.Context, id string, n int) ([]persist.Act, error)
	Stats(ctx context.Context, now time.Time, id string) (Stats, error)

	// Join gives the next ticket.
	Join(ctx context.Context, now time.Time, id string) (Status, error)
	// Poll tells where t stands, burns its turn and begins the next one.
	Poll(ctx context.Context, now time.Time, id string, t Ticket) (Status, error)
	// Resume is Poll for an owner who proved it otherwise: t's turn does not
	// matter.
	Resume(ctx context.Context, now time.Time, id string, t Ticket) (Status, error)
	// Exchange uses an admitted ticket. It does not burn the turn.
	Exchange(ctx context.Context, now time.Time, id string, t Ticket) (Grant, error)
	// Spend marks a token's id as used, to be remembered until the end of the
	// token. It reports whether it was new.
	Spend(ctx context.Context, now time.Time, id string, until time.Time) (bool, error)
}
