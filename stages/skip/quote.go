package skip

import (
	"math"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/andreimerlescu/concert/cookies"
	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/pipeline"
)

// quote is the answer of GET /_room/quote. Money is in currency units.
type quote struct {
	ID         string  `json:"id"`
	Position   int     `json:"position"`
	Target     int     `json:"target"` // the position that is priced; 1 is next
	Places     int     `json:"places"` // from one to the other
	QueueDepth int     `json:"queue_depth"`
	RatePerPos float64 `json:"rate_per_pos"`
	SkipCost   float64 `json:"skip_cost"`
	HasPass    bool    `json:"has_pass"`
	Room       string  `json:"room,omitempty"` // "paused" or "closed" while nobody is let in
}

// ServeQuote answers GET /_room/quote: what it costs to move a ticket, named
// by ref or by the visitor's own cookie, to position (the front, if none is
// given). It tells nobody more than their own waiting page does.
func (s *Stage) ServeQuote(v *pipeline.Visit) {
	c := s.settings.Load()
	q, err := c.quote(v, time.Now())
	if err != nil {
		s.fail(v, err)
		return
	}
	_, q.HasPass, _ = c.pass(v)
	writeJSON(v, http.StatusOK, q)
}

func (c *settings) quote(v *pipeline.Visit, now time.Time) (quote, error) {
	query, err := url.ParseQuery(v.R.URL.RawQuery)
	if err != nil {
		return quote{}, invalid("the query cannot be read: %v", err)
	}
	target := 1
	if text := query.Get("position"); text != "" {
		if target, err = strconv.Atoi(text); err != nil || target < 1 {
			return quote{}, invalid("position %q is none: 1 is the front", text)
		}
	}
	stats := c.Line.Stats(now)
	depth := stats.Live
	price := c.price(depth)
	if price == 0 {
		return quote{}, errNoSale
	}
	t, at, err := c.asked(v, query.Get("ref"), now)
	if err != nil {
		return quote{}, err
	}
	places := max(0, at.Position-target)
	return quote{
		ID: strconv.FormatUint(t.Number, 10), Position: at.Position, Target: min(target, at.Position), Places: places,
		QueueDepth: depth, RatePerPos: price, SkipCost: cost(places, price),
		Room: roomOf(stats.Settings.Mode),
	}, nil
}

// roomOf is the room's state for somebody who sells places in it; "" while
// people are let in.
func roomOf(m line.Mode) string {
	if m == line.Open {
		return ""
	}
	return m.String()
}

// asked finds the ticket a quote is wanted for.
func (c *settings) asked(v *pipeline.Visit, ref string, now time.Time) (line.Ticket, line.Place, error) {
	if ref != "" {
		t, authentic := c.ticketOf(ref)
		if !authentic {
			return t, line.Place{}, errUnknown
		}
		at, err := c.look(v.R.Context(), t, true, now)
		return t, at, err
	}
	failure := error(errUnknown)
	for value := range cookies.Each(v.R.Header, c.TicketCookie) {
		t, authentic := c.Ticket(value)
		if !authentic {
			continue
		}
		at, err := c.look(v.R.Context(), t, true, now)
		if err == nil {
			return t, at, nil
		}
		failure = err
	}
	return line.Ticket{}, line.Place{}, failure
}

// cost is what places cost at a price each, to the cent.
func cost(places int, price float64) float64 {
	return math.Round(float64(max(0, places))*price*100) / 100
}
