package portal

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/pipeline"
)

// queueLimit is the most visitors in one answer of GET /api/queue.
const queueLimit = 500

// Occupant is one visitor in line.
type Occupant struct {
	ID          string    `json:"id"`     // 16 hexadecimal digits
	Client      string    `json:"client"` // an address, or an IPv6 /64
	UserAgent   string    `json:"user_agent"`
	Path        string    `json:"path"` // of the request that joined the line; "" when not known
	Joined      time.Time `json:"joined"`
	LastSeen    time.Time `json:"last_seen"`
	IdleSeconds int64     `json:"idle_seconds"`
	Position    int       `json:"position"` // 1 is next
	Ready       bool      `json:"ready"`    // told to come
	HasPass     bool      `json:"has_pass"` // paid to skip the line
	Promoted    bool      `json:"promoted"`
	Rank        string    `json:"rank"`
	State       string    `json:"state"`       // waiting, called, door or absent
	ETASeconds  *int64    `json:"eta_seconds"` // null when it cannot be told
}

// Queue is a part of the line.
type Queue struct {
	Occupants      []Occupant `json:"occupants"`
	Listed         int        `json:"listed"`
	Offset         int        `json:"offset"` // visitors ahead of the first one listed
	Limit          int        `json:"limit"`
	Kicked         int        `json:"kicked"`           // removed lately, and not told yet for all that is known
	LiveQueueDepth int        `json:"live_queue_depth"` // all there are, also those whose owners are away
}

// idLength is the length of an id.
const idLength = 16

// idOf is what a ticket is called in the API.
func idOf(number uint64) string { return fmt.Sprintf("%016x", number) }

// parseID reads what idOf wrote.
func parseID(id string) (line.Ticket, bool) {
	n, err := strconv.ParseUint(id, 16, 64)
	return line.Ticket{Number: n}, err == nil && n != 0 && len(id) == idLength
}

// IsID reports whether text can be a visitor's id.
func IsID(text string) bool {
	_, ok := parseID(text)
	return ok
}

// stateNames are the states of a place, as GET /queue/status has them.
var stateNames = map[line.State]string{
	line.StateWaiting: "waiting", line.StateCalled: "called", line.StateDoor: "door", line.StateAbsent: "absent",
}

// occupant describes a place to programs.
func (p *Portal) occupant(o *line.Occupant, now time.Time) Occupant {
	n := p.notes.of(o.Place.Ticket.Number)
	out := Occupant{
		ID: idOf(o.Place.Ticket.Number), Client: clientip.FormatKey(o.Client), UserAgent: n.agent, Path: n.path,
		Joined: stamp(o.Place.Ticket.Issued), LastSeen: stamp(o.LastSeen),
		IdleSeconds: max(0, int64(now.Sub(o.LastSeen)/time.Second)), Position: o.Place.Position,
		Ready: isReady(o.Place.State), HasPass: n.pass, Promoted: o.Place.Promoted,
		Rank: pipeline.Rank(o.Rank).String(), State: stateNames[o.Place.State],
	}
	if o.Place.ETA >= 0 {
		out.ETASeconds = new(seconds(o.Place.ETA))
	}
	return out
}

func isReady(s line.State) bool { return s == line.StateCalled || s == line.StateDoor }

// stamp is a time as the API has it.
func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// apiQueue lists a part of the line.
func apiQueue(r *request) (any, error) {
	offset, err := r.number("offset", 0)
	if err != nil {
		return nil, err
	}
	list, err := r.p.Line.List(r.Context(), r.now, offset, queueLimit)
	if err != nil {
		return nil, lineError(err)
	}
	q := Queue{
		Occupants: make([]Occupant, len(list)), Listed: len(list), Offset: offset, Limit: queueLimit,
		Kicked: int(r.p.kicked.n.Load()), LiveQueueDepth: r.p.Line.Stats(r.now).Live,
	}
	for i := range list {
		q.Occupants[i] = r.p.occupant(&list[i], r.now)
	}
	return q, nil
}

func lineError(err error) error {
	return &Problem{http.StatusServiceUnavailable, fmt.Errorf("the line cannot be reached: %w", err)}
}

func ticketOf(id string) (line.Ticket, error) {
	if id == "" {
		return line.Ticket{}, badRequest("id is missing")
	}
	t, ok := parseID(id)
	if !ok {
		return t, badRequest("id %s is none: want the 16 hexadecimal digits of GET /api/queue", quoted(id))
	}
	return t, nil
}

// gone says what became of a ticket that is not in line.
func (p *Portal) gone(ctx context.Context, t line.Ticket, now time.Time) error {
	st, err := p.Line.Look(ctx, now, t)
	if err != nil {
		return lineError(err)
	}
	text := map[line.Ended]string{
		line.EndedAdmitted: "this visitor was let in",
		line.EndedExpired:  "this visitor left, or stayed away for too long",
		line.EndedRemoved:  "this visitor was removed already",
		line.EndedUnknown:  "there is no such visitor in line",
	}[st.Ended]
	return problemf(http.StatusNotFound, "%s", text)
}

// occupantOf finds a ticket's place in line.
func (p *Portal) occupantOf(ctx context.Context, t line.Ticket, now time.Time) (line.Occupant, error) {
	st, err := p.Line.Look(ctx, now, t)
	switch {
	case err != nil:
		return line.Occupant{}, lineError(err)
	case !st.Known:
		return line.Occupant{}, p.gone(ctx, t, now)
	}
	list, err := p.Line.List(ctx, now, st.Place.Position-1, 1)
	if err != nil {
		return line.Occupant{}, lineError(err)
	}
	if len(list) == 1 && list[0].Place.Ticket.Number == t.Number {
		return list[0], nil
	}
	return p.scanFor(ctx, t, st.Place.Position, now)
}

// scanFor finds a ticket near the position that it just had: others have left
// meanwhile, so it is further ahead.
func (p *Portal) scanFor(ctx context.Context, t line.Ticket, position int, now time.Time) (line.Occupant, error) {
	const around = 1000
	list, err := p.Line.List(ctx, now, max(0, position-around), 2*around)
	if err != nil {
		return line.Occupant{}, lineError(err)
	}
	for i := range list {
		if list[i].Place.Ticket.Number == t.Number {
			return list[i], nil
		}
	}
	return line.Occupant{}, p.gone(ctx, t, now)
}

// within reports whether a client's key and a network share addresses.
func within(client, network netip.Prefix) bool {
	return client.IsValid() && network.IsValid() && client.Overlaps(network)
}
