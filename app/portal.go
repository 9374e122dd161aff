package app

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net"
	"net/http"

	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/gate"
	"github.com/andreimerlescu/concert/handover"
	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/listener"
	"github.com/andreimerlescu/concert/persist"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/portal"
	"github.com/andreimerlescu/concert/portal/view"
	"github.com/andreimerlescu/concert/signed"
	"github.com/andreimerlescu/concert/stages/queue"
)

// newPortal makes the operator portal, if the configuration has one.
func (a *App) newPortal(c *config.Config, kept *legacy) {
	if !c.Portal() {
		return
	}
	var left *portal.Left
	if kept != nil {
		left = kept.Portal
	}
	a.openDesk(c)
	var rooms gate.Store
	if a.gate != nil {
		rooms = a.gate.store
	}
	a.portal = portal.New(portal.Options{
		Concert: operators{a}, Peers: a.peers(), Line: a.line, Abuse: a.abuse, History: a.history, Info: a.info, Data: a.data, Requests: a.requests, Gate: rooms,
		Pass: string(c.PortalPass), ViewerPass: string(c.PortalViewerPass), Token: string(c.AdminToken),
		Listen: c.PortalListen, Version: a.options.Version, Log: a.log, Left: left,
	})
}

// maxStrangers is how many connections to the portal others than operators may
// have at once: enough to be told 403.
const maxStrangers = 256

// deskConfig guards the portal's socket: whom the portal is for is let in
// whatever others do there.
func deskConfig(c *config.Config) listener.Config {
	return listener.Config{MaxConns: maxStrangers, Allow: c.PortalAllow}
}

// newPortalServer is the server of operators.
func (a *App) newPortalServer(ln net.Listener) *server {
	s := a.portal.Server()
	s.ConnState, s.ConnContext = a.desk.State, a.desk.Context
	return &server{ln: a.desk.Wrap(ln), http: s, conns: handover.Watch(s)}
}

// PortalHandler serves operators, for a program with a server of its own; nil
// when the configuration has no portal. Keep Run going beside it.
func (a *App) PortalHandler() http.Handler {
	if a.portal == nil {
		return nil
	}
	return a.portal
}

// operators is the App as the portal knows it.
type operators struct{ app *App }

var _ portal.Concert = operators{}

// Config implements portal.Concert.
func (o operators) Config() *config.Config { return o.app.cfg.Load() }

// Leaving implements portal.Concert.
func (o operators) Leaving() bool { return o.app.stages.leaving.Leaves() }

// Settings implements portal.Concert.
func (o operators) Settings() portal.Settings { return o.app.settingsView() }

// Refused implements portal.Concert.
func (o operators) Refused() map[string]uint64 {
	refused := o.app.pipeline.Stats().Refused
	out := make(map[string]uint64, len(refused))
	for r := pipeline.NotRefused + 1; r < pipeline.NumReasons; r++ {
		if n := refused[r]; n > 0 {
			out[r.Code()] = n
		}
	}
	return out
}

// Stats implements portal.Concert: those of /_room/stats, but for what belongs to
// the settings, and with what is for sale.
func (o operators) Stats() map[string]any {
	text, err := json.Marshal(o.app.Stats())
	if err != nil {
		panic("BUG: the stats are no JSON: " + err.Error())
	}
	var stats map[string]any
	if err := json.Unmarshal(text, &stats); err != nil {
		panic("BUG: the stats are no object: " + err.Error())
	}
	for _, key := range []string{"upstream", "token_ttl", "asset_user_cap_h1", "asset_user_cap_h2"} {
		delete(stats, key)
	}
	ranks, _ := stats["priority_requests"].(map[string]any)
	for rank, n := range ranks {
		stats["priority_requests_"+rank] = n
	}
	delete(stats, "priority_requests")
	c := o.app.cfg.Load()
	maps.Copy(stats, map[string]any{"rate": c.Rate, "surge": c.Surge, "skip_url": c.SkipURL, "priority_lane_ranks": laneRanks(c)})
	return stats
}

// laneRanks are the names of the ranks that use the priority lane.
func laneRanks(c *config.Config) []string {
	names := []string{}
	for r := pipeline.Rank(c.PriorityLaneRank); r < pipeline.NumRanks; r++ {
		names = append(names, r.String())
	}
	return names
}

// Edit implements portal.Concert.
func (o operators) Edit(ctx context.Context, by persist.By, e portal.Edit) (view.Edited, error) {
	a := o.app
	a.change.Lock()
	defer a.change.Unlock()
	if e.Rooms != nil {
		list, err := e.Rooms(a.cfg.Load().Rooms)
		if err != nil {
			return view.Edited{}, err
		}
		e.Set = map[string]json.RawMessage{"rooms": list}
	}
	change := changing(by, config.Changes{Set: e.Set, Reset: e.Reset})
	if e.Undo {
		var err error
		if change, err = a.undoing(by); err != nil {
			return view.Edited{}, &portal.Problem{Status: editStatus(err), Err: err}
		}
		if !e.Of.IsZero() && !e.Of.Equal(a.settings.Updated()) {
			return view.Edited{}, &portal.Problem{Status: http.StatusConflict, Err: errors.New("somebody has changed settings since: look at the history of changes first")}
		}
	}
	change.what, change.guard, change.dry = e.What, e.Guard, e.DryRun
	done, err := a.edit(ctx, change)
	if _, known := errors.AsType[*portal.Problem](err); known {
		return view.Edited{}, err
	}
	if err != nil {
		return view.Edited{}, &portal.Problem{Status: editStatus(err), Err: err}
	}
	return done.view(e.DryRun), nil
}

// Rooms implements portal.Concert.
func (o operators) Rooms() []portal.SiteRoom {
	t := o.app.inline.table.Load()
	if t == nil {
		return nil
	}
	var out []portal.SiteRoom
	for _, spec := range t.set.All() {
		out = append(out, portal.SiteRoom{Room: spec, Line: t.rooms[spec.ID].line})
	}
	return out
}

// Act implements portal.Concert.
func (o operators) Act(f func() error) error {
	o.app.change.Lock()
	defer o.app.change.Unlock()
	if o.app.frozen {
		return &portal.Problem{Status: http.StatusServiceUnavailable, Err: ErrReplaced}
	}
	return f()
}

// SaveBans implements portal.Concert.
func (o operators) SaveBans(by persist.By) error { return o.app.saveOrders(by) }

// Audit implements portal.Concert.
func (o operators) Audit(by persist.By, act persist.Act) { o.app.audit(by, act) }

// Ticket implements portal.Concert.
func (o operators) Ticket(text string) (line.Ticket, bool) {
	if t, ok := o.app.stages.skip.Ticket(text); ok {
		return t, true
	}
	keys, err := signed.NewKeyring(o.app.cfg.Load().AdmitSecrets, queue.TicketPurpose)
	if err != nil {
		return line.Ticket{}, false
	}
	return queue.ParseTicket(keys, text)
}
