package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/handover"
	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/listener"
	"github.com/andreimerlescu/concert/persist"
	"github.com/andreimerlescu/concert/portal"
	"github.com/andreimerlescu/concert/portal/view"
)

// GateOptions are what a Gate that stands alone is made with.
type GateOptions struct {
	Data *persist.Dir // close it after Serve
	Log  *slog.Logger
	// Process is this process's part in hand-overs, nil for none, and Handed
	// what a predecessor left.
	Process *handover.Process
	Handed  handover.Handed
	Version string // shown to operators
}

// alone is what a Gate has that stands alone.
type alone struct {
	GateOptions
	portal  *portal.Portal
	leaving atomic.Bool
}

// aloneLegacy is what such a Gate leaves to its successor.
type aloneLegacy struct {
	Gate   *gateLegacy  `json:"gate"`
	Portal *portal.Left `json:"portal"`
}

// NewGate makes a Gate that stands alone. Its operators' portal is on the socket
// of their API.
func NewGate(c *config.Config, o GateOptions) (*Gate, error) {
	var left aloneLegacy
	if o.Handed.State != nil {
		if err := json.Unmarshal(o.Handed.State, &left); err != nil {
			return nil, fmt.Errorf("read what the predecessor left: %w", err)
		}
	}
	g, err := newGate(c, gateParts{data: o.Data, left: left.Gate, log: o.Log, guard: listener.New(guardConfig(c, o.Log))})
	if err != nil {
		return nil, err
	}
	g.alone = &alone{GateOptions: o}
	pass := c.PortalPass
	if pass == "" {
		pass = c.AdminToken
	}
	g.alone.portal = portal.New(portal.Options{
		Concert: gateOperators{g}, Gate: g.store, Data: o.Data,
		Pass: string(pass), ViewerPass: string(c.PortalViewerPass), Token: string(c.AdminToken),
		Listen: c.GateAdminListen, Version: o.Version, Log: o.Log, Left: left.Portal,
	})
	g.operators = besides(g.operators, g.alone.portal)
	return g, nil
}

// besides serves the API and what monitoring asks for as before, and all else
// by the portal.
func besides(api, pages http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/api/v1/") || strings.HasPrefix(r.URL.Path, "/_room/") {
			api.ServeHTTP(w, r)
			return
		}
		pages.ServeHTTP(w, r)
	})
}

// Upgrade starts a new process of the same program and hands sockets, rooms and
// the data directory over to it, as [App.Upgrade] does.
func (g *Gate) Upgrade(ctx context.Context) error {
	nothing := func() handover.InFlight { return handover.InFlight{} }
	return handOver(ctx, g.alone.Process, handover.Plan{Freeze: g.freeze, Thaw: g.thaw, InFlight: nothing}, g.alone.Data, g.log)
}

// freeze stops everything that another process must not do at the same time.
func (g *Gate) freeze(context.Context) ([]byte, error) {
	g.alone.leaving.Store(true)
	left, err := g.leave(time.Now())
	if err != nil {
		return nil, err
	}
	return json.Marshal(aloneLegacy{left, g.alone.portal.Leave()})
}

// thaw undoes freeze.
func (g *Gate) thaw() {
	g.stay()
	g.alone.leaving.Store(false)
}

// Serve accepts connections on the sockets of rooms until ctx ends, finishes
// what is under way and saves. It closes the sockets.
func (g *Gate) Serve(ctx context.Context, on Sockets) error {
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	wg.Go(func() { g.run(running) })
	wg.Go(func() { g.alone.portal.Run(running) })
	all := g.servers(on)
	if err := all.serve(ctx, &wg, g.tellServing); err != nil {
		return err
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), g.cfg.ShutdownTimeout)
	defer cancel()
	var err error
	if p := g.alone.Process; p != nil {
		err = p.Pause(grace)
	}
	if err = errors.Join(err, all.shutDown(grace)); err != nil {
		g.log.Warn("connections cut at the end", "error", err)
		all.close()
	}
	g.log.Info("stopped")
	return nil
}

// tellServing has a predecessor leave, if there is one.
func (g *Gate) tellServing() error {
	return announce(g.alone.Process, func(handover.InFlight) {}, g.alone.Data, g.log) // rooms count nobody's requests
}

// gateOperators is a Gate that stands alone, as the portal knows it.
type gateOperators struct{ gate *Gate }

var _ portal.Concert = gateOperators{}

// Config implements portal.Concert.
func (o gateOperators) Config() *config.Config { return o.gate.cfg }

// Leaving implements portal.Concert.
func (o gateOperators) Leaving() bool { return o.gate.alone.leaving.Load() }

// Audit implements portal.Concert.
func (o gateOperators) Audit(by persist.By, act persist.Act) {
	act.By = by
	act.At = time.Now()
	_ = o.gate.alone.Data.Audit(act) // the directory reports the fault: what was done is done
}

// Act implements portal.Concert.
func (o gateOperators) Act(f func() error) error {
	if o.Leaving() {
		return &portal.Problem{Status: http.StatusServiceUnavailable, Err: ErrReplaced}
	}
	return f()
}

// Settings implements portal.Concert: they are read at the start, and shown
// nowhere.
func (gateOperators) Settings() portal.Settings { return portal.Settings{Fixed: true} }

// Edit implements portal.Concert.
func (gateOperators) Edit(context.Context, persist.By, portal.Edit) (view.Edited, error) {
	return view.Edited{}, &portal.Problem{Status: http.StatusNotImplemented, Err: ErrFixed}
}

// The rest of portal.Concert is about a proxy, which there is not.

// Stats implements portal.Concert.
func (gateOperators) Stats() map[string]any { return nil }

// Refused implements portal.Concert.
func (gateOperators) Refused() map[string]uint64 { return nil }

// SaveBans implements portal.Concert.
func (gateOperators) SaveBans(persist.By) error { return nil }

// Ticket implements portal.Concert.
func (gateOperators) Ticket(string) (line.Ticket, bool) { return line.Ticket{}, false }

// Rooms implements portal.Concert.
func (gateOperators) Rooms() []portal.SiteRoom { return nil }
