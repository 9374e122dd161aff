package app

import (
	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/signed"
	"github.com/andreimerlescu/concert/stages/priority"
	"github.com/andreimerlescu/concert/stages/queue"
	"github.com/andreimerlescu/concert/stages/skip"
)

// headStart is what -rank-order gives each rank in line, in places.
const headStart = 100

func rankLead(c *config.Config) int {
	if !c.RankOrder {
		return 0
	}
	return headStart
}

func (a *App) planPriority(p *plan) (err error) {
	c := p.cfg
	p.priority = priority.Config{
		Line: a.line, Cap: c.PriorityCap, LaneRank: pipeline.Rank(c.PriorityLaneRank), Wait: c.PriorityWait,
		Forms: c.PriorityForms, FormHold: c.FormHold, RetryAfter: c.RetryAfter,
		CookiePath: c.CookiePath, CookieDomain: c.CookieDomain, CookieSecure: c.SecureCookie,
		HasPlace: func(v *pipeline.Visit) bool { return a.stages.queue.HasPlace(v) },
		Admitted: a.requests.Wait.Observe, Changed: a.grantChanged, Log: a.log,
	}
	p.priority.Grants, err = signed.NewKeyring(c.AdmitSecrets, priority.Purpose)
	return err
}

func (a *App) planSkip(p *plan) (err error) {
	c, tickets := p.cfg, p.queue.Tickets
	p.skip = skip.Config{
		Line: a.line, Rate: c.Rate, Surge: c.Surge, PassTTL: c.PassDuration,
		TicketCookie: queue.TicketCookie,
		Ticket:       func(value string) (line.Ticket, bool) { return queue.ParseTicket(tickets, value) },
		CookiePath:   c.CookiePath, CookieDomain: c.CookieDomain, CookieSecure: c.SecureCookie,
		Sold: a.sold, Log: a.log,
	}
	if p.skip.Refs, err = signed.NewKeyring(c.AdmitSecrets, skip.RefPurpose); err != nil {
		return err
	}
	if c.Rate > 0 || c.Surge > 0 {
		p.queue.Market = market{a}
	}
	p.queue.Overtaken = p.queue.Market != nil || c.RankOrder || c.PassDuration > 0
	p.queue.SkipURL = c.SkipURL
	p.queue.Fronted = func(v *pipeline.Visit, t line.Ticket) { a.stages.skip.Fronted(v, t) }
	p.skip.Passes, err = signed.NewKeyring(c.AdmitSecrets, skip.PassPurpose)
	return err
}

// market is the skip stage as the queue stage knows it. The stage is looked up
// late, because it is built after the plan.
type market struct{ app *App }

// Price implements queue.Market.
func (m market) Price(places, depth int) (each, total float64) {
	return m.app.stages.skip.Price(places, depth)
}

// AppendRef implements queue.Market.
func (m market) AppendRef(dst []byte, t line.Ticket) []byte {
	return m.app.stages.skip.AppendRef(dst, t)
}
