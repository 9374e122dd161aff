package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/handover"
	"github.com/andreimerlescu/concert/persist"
)

// server is one of the HTTP servers of an App, with the socket it accepts on.
type server struct {
	ln    net.Listener
	http  *http.Server
	conns *handover.Conns
}

// newServer adds what all servers share.
func (a *App) newServer(ln net.Listener, s *http.Server) *server {
	c := a.cfg.Load()
	s.ReadHeaderTimeout, s.IdleTimeout, s.MaxHeaderBytes = c.ReadHeaderTimeout, c.IdleTimeout, c.MaxHeaderBytes
	s.ErrorLog = slog.NewLogLogger(a.log.Handler(), slog.LevelDebug)
	s.DisableGeneralOptionsHandler = true // OPTIONS * is the handler's to answer
	return &server{ln: ln, http: s, conns: handover.Watch(s)}
}

// serve accepts until the server is shut down or closed. Its error is nil then.
func (s *server) serve() error {
	if err := s.http.Serve(s.ln); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", s.ln.Addr(), err)
	}
	return nil
}

// shutDown stops accepting and waits for what was accepted.
func (s *server) shutDown(ctx context.Context) error { return s.conns.Shutdown(ctx) }

// close cuts off whatever is open.
func (s *server) close() { _ = s.http.Close() } // nothing can be done about an error

// servers are all of an App.
type servers []interface {
	serve() error
	shutDown(context.Context) error
	close()
}

// servers makes one for each socket.
func (a *App) servers(on Sockets) servers {
	all := servers{a.newSite(on.Site)}
	if on.Redirect != nil {
		all = append(all, a.newRedirect(on.Redirect, on.Site))
	}
	if on.Portal != nil {
		all = append(all, a.newPortalServer(on.Portal))
	}
	if a.gate != nil {
		all = append(all, a.gate.servers(on)...)
	}
	if a.cfg.Load().HTTP3 {
		all = append(all, a.newHTTP3(on.QUIC, on.Site.Addr()))
	}
	return all
}

// newSite is the server of visitors. Its socket is wrapped from the inside to
// the outside: what the kernel gives, what guards connections, TLS.
func (a *App) newSite(ln net.Listener) *server {
	s := &http.Server{
		Handler:     a.stages.leaving.Closing(a.hsts.saying(a.advertising(a.pipeline))),
		HTTP2:       http2Config(a.cfg.Load()),
		ConnContext: a.guard.Context,
		ConnState: func(c net.Conn, state http.ConnState) {
			a.guard.State(c, state)
			a.certs.ConnState(c, state)
		},
	}
	return a.newServer(a.certs.Listener(a.guard.Wrap(ln)), s)
}

// newRedirect is the server of plain HTTP beside TLS.
func (a *App) newRedirect(ln, site net.Listener) *server {
	_, port, _ := net.SplitHostPort(site.Addr().String())
	return a.newServer(a.guard.Wrap(ln), &http.Server{
		Handler:   a.certs.Plain(a.stages.leaving.Closing(a.pipeline), port),
		ConnState: a.guard.State, ConnContext: a.guard.Context,
	})
}

// Bounds of the streams that a client may have open at once on a connection:
// the least that RFC 9113 recommends, and what one connection may cost.
const (
	minStreams = 100
	maxStreams = 1024
)

// streams lets a connection have as many requests under way as a visitor may
// have assets; the room beyond is for pages and streams.
func streams(c *config.Config) int { return min(max(c.AssetUserCapH2, minStreams), maxStreams) }

// http2Config is read when the server begins: net/http does not let go of it.
func http2Config(c *config.Config) *http.HTTP2Config {
	return &http.HTTP2Config{
		MaxConcurrentStreams:          streams(c),
		MaxReadFrameSize:              16 << 10, // the least: larger ones buy nothing
		MaxReceiveBufferPerConnection: 1 << 20,
		MaxReceiveBufferPerStream:     512 << 10,
		SendPingTimeout:               30 * time.Second, // of silence
		PingTimeout:                   15 * time.Second,
		WriteByteTimeout:              c.WriteTimeout,
	}
}

// serve has all accept connections until ctx ends, in goroutines of wg that end
// with shutDown or close. ready is told when they do; its error, and the failure
// of any of them, closes them all.
func (all servers) serve(ctx context.Context, wg *sync.WaitGroup, ready func() error) error {
	failed := make(chan error, len(all))
	for _, s := range all {
		wg.Go(func() { failed <- s.serve() }) // ends with shutDown or close
	}
	if err := ready(); err != nil {
		all.close() // the other process goes on
		return err
	}
	select {
	case err := <-failed:
		all.close() // half of a service is none
		return err
	case <-ctx.Done():
		return nil
	}
}

// shutDown stops all at the same time: they share ctx.
func (all servers) shutDown(ctx context.Context) error {
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, s := range all {
		wg.Go(func() { errs[i] = s.shutDown(ctx) }) // ends with ctx at the latest
	}
	wg.Wait()
	return errors.Join(errs...)
}

// close cuts off whatever is open.
func (all servers) close() {
	for _, s := range all {
		s.close()
	}
}

// announce has a predecessor leave, if there is one, and the data directory say
// that it is ours. p is nil for an App that is no process of its own. The error
// means that the predecessor goes on.
func announce(p *handover.Process, had func(handover.InFlight), data *persist.Dir, log *slog.Logger) error {
	if p == nil {
		return nil
	}
	err := p.Serving(had)
	switch {
	case err == nil:
		data.Sign()
	case !p.HasPredecessor():
		log.Warn("the service manager does not know that Concert serves", "error", err)
		return nil
	}
	return err
}
