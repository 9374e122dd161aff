package portal

import (
	"context"
	"net/netip"
	"strings"
	"time"

	"github.com/andreimerlescu/concert/abuse"
	"github.com/andreimerlescu/concert/abuse/api"
	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/portal/view"
)

// maxFound is the most visitors that a search for one lists.
const maxFound = 20

// found is who was found, as pages and programs are told.
type found struct {
	asked    string
	rows     []line.Occupant
	ended    string // what became of a ticket: admitted, expired, removed or ""
	problem  string
	bans     []*abuse.Ban
	searched searched
}

// find looks for a visitor by ticket, by the reference of a waiting page, by id
// or by address.
func (p *Portal) find(ctx context.Context, text string, now time.Time) (found, error) {
	f := found{asked: text, searched: searched{all: true}}
	text = strings.TrimSpace(text)
	if text == "" {
		f.problem = "give an address, a ticket, or the reference on the visitor's waiting page"
		return f, nil
	}
	if client, err := abuse.ParseClient(text); err == nil {
		return f, p.findClient(ctx, client, now, &f)
	}
	t, ok := p.Concert.Ticket(text)
	if !ok {
		t, ok = parseID(strings.ToLower(text))
	}
	if !ok {
		f.problem = quoted(text) + " is no address, no ticket of this Concert, and no reference of a waiting page"
		return f, nil
	}
	return f, p.findTicket(ctx, t, now, &f)
}

func (p *Portal) findClient(ctx context.Context, client netip.Prefix, now time.Time, f *found) (err error) {
	f.bans = p.Abuse.List(abuse.Filter{Client: client}, now)
	f.bans = f.bans[:min(len(f.bans), maxFound)]
	f.searched, err = p.search(ctx, now, func(o *place) bool {
		if within(o.Client, client) {
			f.rows = append(f.rows, *o.Occupant)
		}
		return len(f.rows) < maxFound
	})
	return err
}

func (p *Portal) findTicket(ctx context.Context, t line.Ticket, now time.Time, f *found) error {
	st, err := p.Line.Look(ctx, now, t)
	if err != nil {
		return lineError(err)
	}
	if !st.Known {
		f.ended = map[line.Ended]string{line.EndedAdmitted: "admitted", line.EndedExpired: "expired", line.EndedRemoved: "removed"}[st.Ended]
		return nil
	}
	o, err := p.occupantOf(ctx, t, now)
	if err != nil {
		return err
	}
	f.rows = []line.Occupant{o}
	f.bans = p.Abuse.List(abuse.Filter{Client: o.Client}, now)
	return nil
}

// Found answers GET /api/queue/find.
type Found struct {
	Asked    string         `json:"asked"`
	Found    []FoundVisitor `json:"found"`
	Ended    string         `json:"ended,omitempty"`   // what became of a ticket: admitted, expired or removed
	Problem  string         `json:"problem,omitempty"` // why nothing could be looked for
	Bans     []api.Ban      `json:"bans"`              // that hold for some of what was asked for
	Searched int            `json:"searched"`          // places that were looked at when not all were; 0 otherwise
}

// FoundVisitor is a visitor with why they wait.
type FoundVisitor struct {
	Occupant
	Why string `json:"why"`
}

func apiFind(r *request) (any, error) {
	f, err := r.p.find(r.Context(), r.query.Get("q"), r.now)
	if err != nil {
		return nil, err
	}
	out := Found{Asked: f.asked, Found: []FoundVisitor{}, Ended: f.ended, Problem: f.problem, Bans: []api.Ban{}, Searched: f.searched.limit()}
	st := r.p.status(r.now)
	for i, row := range r.queueRows(f.rows) {
		out.Found = append(out.Found, FoundVisitor{r.p.occupant(&f.rows[i], r.now), view.Why(st, row, r.now)})
	}
	for _, b := range f.bans {
		out.Bans = append(out.Bans, api.Shown(b, r.now))
	}
	return out, nil
}

// limit is how many places were looked at, 0 for all.
func (s searched) limit() int {
	if s.all {
		return 0
	}
	return s.places
}
