package app

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/fleet"
	"github.com/andreimerlescu/concert/portal"
)

// openDesk has the portals of all instances show each other's history. One
// without a portal answers nobody.
func (a *App) openDesk(c *config.Config) {
	if a.shared.line == nil || !c.Portal() {
		return
	}
	a.shared.desk = fleet.NewDesk(fleet.DeskOptions{
		Conn: a.shared.conn, Room: c.RedisRoom, Name: a.shared.line.Name(), Log: a.log,
		Answer: func(ctx context.Context, q fleet.Question) (json.RawMessage, error) {
			return a.portal.Answer(ctx, q.What, q.Query)
		},
	})
}

// peers are the other instances as the portal knows them; nil with a line of
// one's own.
func (a *App) peers() portal.Peers {
	if a.shared.desk == nil {
		return nil
	}
	return peers{a}
}

type peers struct{ app *App }

// Instances implements portal.Peers.
func (p peers) Instances() (names []string, me string) {
	me = p.app.shared.line.Name()
	for _, i := range p.app.instances().Instances {
		names = append(names, i.Name)
	}
	if !slices.Contains(names, me) {
		names = append(names, me)
	}
	slices.Sort(names)
	return names, me
}

// Ask implements portal.Peers.
func (p peers) Ask(ctx context.Context, instance, what, query string) (json.RawMessage, error) {
	return p.app.shared.desk.Ask(ctx, instance, what, query)
}

// Away implements portal.Peers.
func (p peers) Away() string {
	if !p.app.instances().Down {
		return ""
	}
	return "Redis is away: this instance goes by -redis-down=" + p.app.cfg.Load().RedisDown.String() +
		", and the figures of the line are as they last were."
}
