package app

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/andreimerlescu/concert/abuse"
	"github.com/andreimerlescu/concert/certs"
	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/handover"
	"github.com/andreimerlescu/concert/history"
	"github.com/andreimerlescu/concert/ipinfo"
	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/listener"
	"github.com/andreimerlescu/concert/metrics"
	"github.com/andreimerlescu/concert/persist"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/portal"
)

// Options are what an embedding program can add to a configuration.
type Options struct {
	// Log gets what operators should know; nil discards it.
	Log *slog.Logger
	// AccessLog gets a line per request while Config.AccessLog is on; nil
	// discards it.
	AccessLog *slog.Logger
	// Stages may insert stages before or after the built-in ones.
	Stages func(order *pipeline.Order) error
	// Origin replaces the proxy to Config.Upstream.
	Origin pipeline.Origin
	// Texts rewords refusals.
	Texts map[pipeline.Reason]pipeline.Text

	// Data keeps what outlives the process; nil keeps everything in memory.
	// Close it after Run or Serve.
	Data *persist.Dir
	// Loaded is what the configuration came from. With it, settings can be
	// changed while the App runs, by Change and by the operators.
	Loaded *config.Loaded
	// Process is this process's part in hand-overs, nil for none, and Handed
	// what a predecessor left.
	Process *handover.Process
	Handed  handover.Handed
	// Version is shown to operators; "" shows none.
	Version string
}

// App is one Concert: everything between a configuration and a handler.
type App struct {
	options Options
	log     *slog.Logger

	cfg atomic.Pointer[config.Config] // stored under change

	// change has operators act one after the other. It guards the fields below.
	change   sync.Mutex
	loaded   *config.Loaded // nil: settings are fixed
	settings *persist.Settings
	frozen   bool              // another process takes over
	left     handover.InFlight // of a predecessor, still at the origin
	places   []line.Slot       // that stand for the pages of it

	data   *persist.Dir
	bans   *persist.Bans
	orders orders
	keeper keeper
	marks  marks

	// What outlives a change of the configuration.
	line     line.Line
	shared   shared
	abuse    *abuse.Registry
	requests *metrics.Observer
	info     *ipinfo.Service
	history  *history.History
	proxies  proxies
	guard    *listener.Guard
	portal   *portal.Portal           // nil: there is none
	desk     *listener.Guard          // of the connections to it
	quic     atomic.Pointer[overQUIC] // nil while HTTP/3 is not served
	certs    *certs.Manager
	hsts     hsts
	gate     *Gate // nil: no off-site rooms
	inline   inlineRooms
	stages   stages
	order    pipeline.Order
	pipeline *pipeline.Pipeline
	draining atomic.Bool
}

// New builds an App. Nothing runs and nothing listens yet.
func New(c *config.Config, o Options) (*App, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	a := &App{options: o, log: o.Log, requests: metrics.NewObserver(), left: o.Handed.InFlight}
	a.guard = listener.New(guardConfig(c, o.Log))
	a.certs = certs.New(certs.Options{Log: o.Log})
	now := time.Now()
	kept, err := readLegacy(o.Handed.State)
	if err != nil {
		return nil, err
	}
	if err := a.newStores(c, kept, now); err != nil {
		return nil, err
	}
	a.newPortal(c, kept)
	a.desk = listener.New(deskConfig(c))
	p, err := a.plan(c)
	if err != nil {
		return nil, err
	}
	if err := a.build(p, kept, now); err != nil {
		return nil, err
	}
	a.certs.Use(p.certs)
	a.hsts.set(c)
	a.cfg.Store(c)
	if a.shared.line == nil {
		a.beginSaving(a.line, a.data.LineFiles, "")
	}
	a.joinFleet(c)
	return a, nil
}

// build makes the stages of all rooms, with what they remember, and the pipeline
// of them.
func (a *App) build(p *plan, kept *legacy, now time.Time) (err error) {
	if a.stages, err = a.newStages(p); err != nil {
		return err
	}
	if err := a.applyRooms(context.Background(), p, kept, now); err != nil {
		return err
	}
	if err := a.openMarks(kept, now); err != nil {
		return err
	}
	a.order = a.stages.order()
	if insert := a.options.Stages; insert != nil {
		if err := insert(&a.order); err != nil {
			return fmt.Errorf("insert stages: %w", err)
		}
	}
	a.pipeline, err = pipeline.New(a.pipelineConfig(p), a.order...)
	return err
}

// newStores makes what holds state, and restores it.
func (a *App) newStores(c *config.Config, kept *legacy, now time.Time) (err error) {
	if err := a.openData(now); err != nil {
		return err
	}
	if kept != nil {
		a.certs.Inherit(kept.Tickets)
	}
	if err := a.restoreLine(c, kept, now); err != nil {
		return err
	}
	if a.abuse, err = abuse.New(abuseConfig(c), now); err != nil {
		return err
	}
	if err := a.restoreBans(kept, now); err != nil {
		return err
	}
	a.abuse.Subscribe(a.banned)
	a.abuse.Subscribe(a.tellBan)
	if c.GateListen != "" {
		parts := gateParts{data: a.data, log: a.log, guard: a.guard, banned: a.bannedFromRooms}
		if kept != nil {
			parts.left = kept.Gate
		}
		if a.gate, err = newGate(c, parts); err != nil {
			return err
		}
	}
	return a.newHistory(c, now)
}

// openData takes the directory into use, and the settings in it.
func (a *App) openData(now time.Time) (err error) {
	if a.data = a.options.Data; a.data == nil {
		if a.data, err = persist.Open("", persist.Options{}); err != nil {
			return err
		}
	}
	if a.loaded = a.options.Loaded; a.loaded == nil {
		return nil
	}
	a.settings, err = a.data.Settings()
	if had := a.loaded.Stored(); err == nil && a.data.Path() == "" && len(had) > 0 {
		err = a.settings.Save(had, now) // what a predecessor had in memory
	}
	return err
}

// banned drops the waiting visitors and the open streams of a new ban.
func (a *App) banned(e abuse.Event) {
	if e.Kind != abuse.Banned {
		return
	}
	if a.shared.line != nil {
		go a.dropBanned(e) // ends when Redis has answered, or not: nobody waits for it
		return
	}
	a.dropBanned(e)
}

// dropBanned drops a banned client's waiting visitors and open streams.
func (a *App) dropBanned(e abuse.Event) {
	client := e.Ban.Client
	n := 0
	for _, l := range a.lines() {
		gone, err := l.RemoveClients(context.Background(), e.At, client, a.abuse.ExemptWithin(client)...)
		if err != nil {
			a.log.Error("banned visitors are still in line", "client", client, "error", err)
		}
		n += gone
	}
	streams := a.proxies.endStreams(client, a.abuse)
	a.log.Info("banned", "client", client, "until", e.Ban.Until, "permanent", e.Ban.Permanent(),
		"cause", e.Ban.Cause, "removed_waiting", n, "ended_streams", streams)
}

// Handler serves requests. Keep Run going beside it.
func (a *App) Handler() http.Handler { return a.pipeline }
