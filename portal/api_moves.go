package portal

import (
	"errors"
	"net/http"
	"time"

	"github.com/andreimerlescu/concert/abuse"
	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/persist"
)

// Promote is the body of POST /api/queue/promote.
type Promote struct {
	ID string `json:"id"`
}

// Promoted answers it.
type Promoted struct {
	Promoted string `json:"promoted"` // the id
	Position int    `json:"position"` // where the visitor is now
}

// apiPromote moves a visitor to the front, behind those promoted before.
func apiPromote(r *request) (any, error) {
	var in Promote
	if err := r.read(&in); err != nil {
		return nil, err
	}
	t, err := ticketOf(in.ID)
	if err != nil {
		return nil, err
	}
	var out Promoted
	err = r.p.Concert.Act(func() error {
		switch err := r.p.Line.Promote(r.Context(), r.now, t, line.Front); {
		case errors.Is(err, line.ErrUnknownTicket):
			return r.p.gone(r.Context(), t, r.now)
		case errors.Is(err, line.ErrNoPosition):
			return &Problem{http.StatusConflict, err}
		case err != nil:
			return lineError(err)
		}
		out.Promoted = in.ID
		o, err := r.p.occupantOf(r.Context(), t, r.now)
		if err == nil { // else they are being let in already
			out.Position = o.Place.Position
		}
		r.p.Concert.Audit(r.by(), persist.Act{What: "promote", Note: in.ID + " " + clientip.FormatKey(o.Client)})
		return nil
	})
	return out, err
}

// Kick is the body of POST /api/queue/kick. With ban, the visitor's client is
// banned as well: permanently, for duration, or for the first cooldown.
type Kick struct {
	ID        string `json:"id"`
	Ban       bool   `json:"ban"`
	Duration  string `json:"duration"`
	Permanent bool   `json:"permanent"`
	Note      string `json:"note"`
}

// Kicked answers it.
type Kicked struct {
	Kicked     string `json:"kicked"` // the id
	Client     string `json:"client"`
	Banned     bool   `json:"banned"`
	BanSeconds int64  `json:"ban_seconds"`    // 0 when permanent, and without a ban
	Undo       string `json:"undo,omitempty"` // of the ban; a place that was removed is gone
}

// apiKick takes a visitor out of the line.
func apiKick(r *request) (any, error) {
	var in Kick
	if err := r.read(&in); err != nil {
		return nil, err
	}
	t, err := ticketOf(in.ID)
	if err != nil {
		return nil, err
	}
	var order abuse.Order
	switch {
	case in.Ban:
		if in.Duration == "" && !in.Permanent {
			in.Duration = max(r.p.Concert.Config().AbuseCooldown, minBan).String()
		}
		if order, err = readOrder(BanOrder{Duration: in.Duration, Permanent: in.Permanent, Note: in.Note}); err != nil {
			return nil, err
		}
	case in.Duration != "" || in.Permanent || in.Note != "":
		return nil, badRequest("duration, permanent and note are for a ban: set ban as well")
	}
	var out Kicked
	err = r.p.Concert.Act(func() error {
		out, err = r.kick(t, in, order)
		return err
	})
	return out, err
}

// kick is apiKick as the only act. The ban comes first: when it is refused,
// nothing is done.
func (r *request) kick(t line.Ticket, in Kick, order abuse.Order) (Kicked, error) {
	out := Kicked{Kicked: in.ID}
	o, err := r.p.occupantOf(r.Context(), t, r.now)
	if err != nil {
		return out, err
	}
	out.Client = clientip.FormatKey(o.Client)
	if in.Ban {
		if !o.Client.IsValid() {
			return out, problemf(http.StatusConflict, "the visitor's address is not known")
		}
		order.Client = o.Client
		b, undo, err := r.ban(order, true)
		if err != nil {
			return out, err
		}
		out.Banned, out.Undo = true, undo
		if !b.Permanent() {
			out.BanSeconds = seconds(b.Remaining(r.now))
		}
	}
	// A ban has removed them already.
	if err := r.p.Line.Remove(r.Context(), r.now, t); err != nil && !errors.Is(err, line.ErrUnknownTicket) {
		return out, lineError(err)
	}
	r.p.kicked.add(t.Number, r.now.Add(r.p.Concert.Config().TicketTTL()+time.Minute))
	r.p.Concert.Audit(r.by(), persist.Act{What: "remove", Note: in.ID + " " + out.Client})
	return out, nil
}
