package portal

import (
	"context"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/andreimerlescu/concert/internal/ticks"
	"github.com/andreimerlescu/concert/stages/operations"
)

// Portal serves the operators. Use [New], and keep Run going.
type Portal struct {
	Options
	routes    map[string]map[string]*route // by path and method
	origins   *http.CrossOriginProtection
	token     operations.TokenCheck
	passwords *passwords
	sessions  *sessions
	lockout   lockout
	browsers  []byte // key of browserCookie
	series    series
	notes     *notes
	kicked    kicked
	undos     undos
	pace      pace
}

var _ http.Handler = (*Portal)(nil)

// New builds a portal with the sessions of the process before.
func New(o Options) *Portal {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	p := &Portal{
		Options: o, origins: http.NewCrossOriginProtection(), token: operations.NewTokenCheck(o.Token),
		passwords: newPasswords(o.Pass, o.ViewerPass), sessions: newSessions(o.Pass, o.ViewerPass, o.Data, o.Log, time.Now()),
		browsers: deriveKey(o.Pass, "concert/portal/browser-key"), notes: newNotes(maxNotes),
	}
	p.inherit(o.Left, time.Now())
	p.routes = indexRoutes(routes())
	if p.RoomsOnly() {
		p.routes = indexRoutes(slices.DeleteFunc(routes(), func(r route) bool { return !r.alone }))
	}
	return p
}

// Run samples what the charts show, and forgets what is over, until ctx ends.
func (p *Portal) Run(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	if p.RoomsOnly() {
		<-ctx.Done() // sessions are looked over as they are used
		return
	}
	wg.Go(func() { p.keepNotes(ctx) }) // ends with ctx
	p.sample(time.Now())
	ticks.Each(ctx, sampleEvery, p.sample)
}

// Server returns an HTTP server for the portal with its time limits.
func (p *Portal) Server() *http.Server {
	return &http.Server{
		Handler:           p,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(p.Log.Handler(), slog.LevelDebug),
	}
}

// rescue tells operators of a handler that panicked; net/http would tell nobody
// but those who read what clients do wrong.
func (r *request) rescue() {
	failure := recover()
	if failure == nil {
		return
	}
	if failure != http.ErrAbortHandler {
		r.p.Log.Error("BUG: the portal panicked", "method", r.Method, "path", r.URL.Path, "panic", failure, "stack", string(debug.Stack()))
	}
	panic(http.ErrAbortHandler) // an answer may have begun
}

// ServeHTTP implements http.Handler.
func (p *Portal) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range security {
		w.Header().Set(name, value)
	}
	q := &request{Request: r, w: w, p: p, now: time.Now(), client: peerOf(r)}
	defer q.rescue()
	c := p.Concert.Config()
	switch {
	case !isAllowed(c.PortalAllow, q.client):
		w.WriteHeader(http.StatusForbidden)
	case !isHost(c, p.Listen, r.Host):
		q.text(http.StatusMisdirectedRequest, "the portal is not known by the name "+quoted(hostName(r.Host))+
			": open it by its address or as localhost, or add the name to -portal-hosts\n")
	case p.origins.Check(r) != nil:
		q.refuse(problemf(http.StatusForbidden, "not allowed from another site"))
	case p.Concert.Leaving() && sendOn(w, r):
	default:
		q.route()
	}
}
