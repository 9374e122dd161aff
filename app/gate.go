package app

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/gate"
	"github.com/andreimerlescu/concert/gate/api"
	"github.com/andreimerlescu/concert/gate/memory"
	"github.com/andreimerlescu/concert/gate/redis"
	"github.com/andreimerlescu/concert/gate/token"
	"github.com/andreimerlescu/concert/handover"
	redisline "github.com/andreimerlescu/concert/line/redis"
	"github.com/andreimerlescu/concert/listener"
	"github.com/andreimerlescu/concert/metrics"
	"github.com/andreimerlescu/concert/persist"
	"github.com/andreimerlescu/concert/stages/queue/page"
)

// gateBodyTime is how long a request to a room may take to arrive.
const gateBodyTime = 30 * time.Second

// Gate is the off-site rooms of a Concert: beside the site it protects, or
// alone, as NewGate makes it.
type Gate struct {
	cfg       *config.Config
	log       *slog.Logger
	guard     *listener.Guard
	store     gate.Store
	memory    *memory.Store // the same, when it is in this process
	redis     *redis.Store  // the same, when several processes share it
	keys      *token.File   // that are in no file; nil when there is one
	ring      *token.Ring
	public    http.Handler
	operators http.Handler
	alone     *alone // nil beside a proxy
}

// gateLegacy is what a Gate leaves to its successor.
type gateLegacy struct {
	Rooms json.RawMessage `json:"rooms"`
	Keys  *token.File     `json:"keys,omitempty"` // that are in no file
}

// gateParts are what a Gate shares with the rest of a Concert.
type gateParts struct {
	data   *persist.Dir
	left   *gateLegacy // nil: there was no predecessor
	log    *slog.Logger
	guard  *listener.Guard
	banned api.Banned // nil: nobody is
}

// newGate makes the rooms that the directory or a predecessor left.
func newGate(c *config.Config, parts gateParts) (*Gate, error) {
	g := &Gate{cfg: c, log: parts.log, guard: parts.guard}
	now := time.Now()
	if err := g.openStore(parts, now); err != nil {
		return nil, err
	}
	if err := g.openKeys(now); err != nil {
		return nil, fmt.Errorf("-gate-keys: %w", err)
	}
	ac := api.Config{
		Store: g.store, Ring: g.ring, Log: g.log, Banned: parts.banned, Token: string(c.AdminToken),
		Resolver: clientip.NewResolver(c.TrustedProxies),
		Limits:   api.Limits{Joins: c.GateJoins, Requests: c.GateRequests},
		Exempt:   func(a netip.Addr) bool { return c.AbuseAllow.Contains(a) || c.TrustedProxies.Contains(a) },
		Look:     page.Look{Name: c.BrandName, Logo: c.BrandLogo.Content, Color: c.BrandColor},
	}
	public, err := api.NewPublic(ac)
	if err != nil {
		return nil, err
	}
	g.public = withHealth(public, nil)
	g.operators = withHealth(api.NewOperators(ac), metrics.Handler(metrics.NewCollector(metrics.Sources{
		Labelled: gateFamilies(g.views), Requests: metrics.NewObserver(),
	})))
	return g, nil
}

// openStore makes the store: in Redis when there is one, else in memory.
func (g *Gate) openStore(parts gateParts, now time.Time) (err error) {
	if g.cfg.RedisURL != "" {
		conn, err := redisline.ParseURL(string(g.cfg.RedisURL))
		if err != nil {
			return fmt.Errorf("CONCERT_REDIS_URL: %w", err)
		}
		g.redis = redis.New(redis.Options{Conn: conn, Prefix: "concert:" + g.cfg.RedisRoom + ":"})
		g.store = g.redis
		return nil
	}
	options := memory.Options{Dir: parts.data, Start: now, Log: g.log}
	if parts.left != nil {
		options.Left, g.keys = parts.left.Rooms, parts.left.Keys
	}
	g.memory, err = memory.New(options)
	g.store = g.memory
	return err
}

// openKeys reads the key file, or makes keys for as long as the process runs.
func (g *Gate) openKeys(now time.Time) (err error) {
	if path := g.cfg.GateKeysFile(); path != "" {
		g.ring, err = token.Open(path, g.cfg.GateKeys == "", now) // a file that is named must be there
		g.keys = nil
		if err != nil && g.cfg.GateKeys == "" {
			err = fmt.Errorf("%w: choose another directory with -data-dir, or keep everything in memory with -data-dir \"\"", err)
		}
		return err
	}
	if g.keys == nil {
		if g.keys, err = token.NewFile(now); err != nil {
			return err
		}
	}
	g.ring, err = token.NewRing(g.keys)
	return err
}

// withHealth adds what load balancers and monitoring ask for.
func withHealth(h, scrape http.Handler) http.Handler {
	mux := http.NewServeMux()
	say := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.Header().Set("Cache-Control", "no-store")
			_, _ = w.Write([]byte(text)) // the client may have left
		}
	}
	mux.Handle("GET /_room/healthz", say("ok"))
	mux.Handle("GET /_room/readyz", say("ready"))
	if scrape != nil {
		mux.Handle("GET /_room/metrics", scrape)
	}
	mux.Handle("/", h)
	return mux
}

// run does what must go on beside serving, until ctx ends and all is saved.
func (g *Gate) run(ctx context.Context) {
	var wg sync.WaitGroup
	if g.memory != nil {
		wg.Go(func() { g.memory.Run(ctx) })
	}
	wg.Go(func() { g.ring.Watch(ctx, g.log) })
	wg.Wait()
	if g.redis != nil {
		g.redis.Close()
	}
}

// leave stops everything that a successor does from now on.
func (g *Gate) leave(now time.Time) (*gateLegacy, error) {
	if g.memory == nil {
		return &gateLegacy{}, nil // the successor shares the rooms
	}
	rooms, err := g.memory.Freeze(now)
	if err != nil {
		return nil, fmt.Errorf("hand on the rooms: %w", err)
	}
	return &gateLegacy{Rooms: rooms, Keys: g.keys}, nil
}

// stay undoes leave.
func (g *Gate) stay() {
	if g.memory != nil {
		g.memory.Thaw()
	}
}

// servers makes one for each socket there is.
func (g *Gate) servers(on Sockets) servers {
	var all servers
	for _, s := range []struct {
		ln      net.Listener
		handler http.Handler
	}{{on.Gate, g.public}, {on.GateAdmin, g.operators}} {
		if s.ln == nil {
			continue
		}
		h := &http.Server{
			Handler: s.handler, ConnState: g.guard.State, ConnContext: g.guard.Context,
			ReadHeaderTimeout: g.cfg.ReadHeaderTimeout, ReadTimeout: gateBodyTime, WriteTimeout: g.cfg.WriteTimeout,
			IdleTimeout: g.cfg.IdleTimeout, MaxHeaderBytes: g.cfg.MaxHeaderBytes,
			ErrorLog: slog.NewLogLogger(g.log.Handler(), slog.LevelDebug),
		}
		all = append(all, &server{ln: g.guard.Wrap(s.ln), http: h, conns: handover.Watch(h)})
	}
	return all
}
