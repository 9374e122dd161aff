package app

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/andreimerlescu/concert/internal/ticks"
	"github.com/andreimerlescu/concert/line"
)

// idleGrace is how long connections stay open that may bring another request,
// after another process has taken over.
const idleGrace = time.Second

// sweepEvery is how often per-pass pools are looked over for idle ones.
const sweepEvery = 30 * time.Second

// Run does what must go on beside serving: it moves the line along with time,
// drops idle pools and saves what is to outlive the process. It returns when
// ctx has ended and all is saved. Serve calls it by itself.
func (a *App) Run(ctx context.Context) {
	var wg sync.WaitGroup
	defer a.leaveLine()
	defer wg.Wait()
	wg.Go(func() { line.Drive(ctx, a.line) })
	wg.Go(func() { a.inline.run(ctx) })
	wg.Go(func() { a.shared.listen(ctx) })
	wg.Go(func() { a.spread(ctx) })
	wg.Go(func() { a.info.Run(ctx) })
	wg.Go(func() { a.history.Run(ctx) })
	wg.Go(func() { a.keep(ctx) })
	if a.portal != nil {
		wg.Go(func() { a.portal.Run(ctx) })
	}
	wg.Go(func() { a.certs.Run(ctx) })
	if a.gate != nil {
		wg.Go(func() { a.gate.run(ctx) })
	}
	ticks.Each(ctx, sweepEvery, func(now time.Time) {
		a.stages.assets.Sweep(now)
		a.abuse.Sweep(now)
		a.proxies.sweep()
	})
}

// Sockets are the listeners that an App serves on, open already. Each is nil
// when there is none, but for Site.
type Sockets struct {
	Site      net.Listener // visitors, over TLS while there are certificates
	Redirect  net.Listener // plain HTTP beside TLS: on to https, and challenges of the authority
	Portal    net.Listener // operators; for a configuration with a portal only
	Gate      net.Listener // visitors of off-site rooms
	GateAdmin net.Listener // the operators of these
	// QUIC is for HTTP/3 on the port of Site. When Config.HTTP3 is on and it is
	// nil, the port is opened as soon as it is free.
	QUIC net.PacketConn
}

// Serve accepts visitors on ln until ctx ends; see [App.ServeOn].
func (a *App) Serve(ctx context.Context, ln net.Listener) error {
	return a.ServeOn(ctx, Sockets{Site: ln})
}

// ServeOn accepts connections on every socket until ctx ends, then stops in
// order: no new connections, streams ended at once, pages given the shutdown
// timeout, and what is to outlive the process saved.
//
// The error is nil after a stop that was asked for. It closes the sockets.
func (a *App) ServeOn(ctx context.Context, on Sockets) error {
	all := a.servers(on)
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	wg.Go(func() { a.Run(running) })
	if err := all.serve(ctx, &wg, a.tellServing); err != nil {
		return err
	}
	a.drain(all)
	return nil
}

// tellServing has a predecessor leave, if there is one.
func (a *App) tellServing() error {
	return announce(a.options.Process, a.predecessorHas, a.data, a.log)
}

// drain finishes what is under way within the shutdown timeout.
func (a *App) drain(all servers) {
	a.draining.Store(true)
	a.log.Info("draining", "timeout", a.cfg.Load().ShutdownTimeout, "in_flight", a.pipeline.Stats().Inside)
	grace, cancel := context.WithTimeout(context.Background(), a.cfg.Load().ShutdownTimeout)
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() { // ends with the grace at the latest
		if err := a.proxies.closeStreams(grace); err != nil {
			a.log.Warn("streams still open", "error", err)
		}
	})
	if err := a.shutDown(grace, all); err != nil {
		a.log.Warn("connections cut at the end of the drain", "in_flight", a.pipeline.Stats().Inside, "error", err)
		all.close() // what is still open has had its time
	}
	wg.Wait()
	a.log.Info("stopped")
}

// shutDown stops accepting, and waits for what was accepted.
func (a *App) shutDown(ctx context.Context, all servers) error {
	if p := a.options.Process; p != nil {
		if err := p.Pause(ctx); err != nil {
			return err
		}
	}
	a.stages.leaving.Linger(ctx)
	return all.shutDown(ctx)
}
