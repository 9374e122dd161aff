package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"sync"

	"github.com/andreimerlescu/concert/app"
	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/handover"
	"github.com/andreimerlescu/concert/persist"
)

// Where concert gate listens unless it is told otherwise.
const (
	gateAddress      = ":8088"
	gateAdminAddress = "127.0.0.1:8081"
)

// runGate is the subcommand that serves off-site rooms alone. It takes the
// flags of the proxy, of which only those about rooms and connections count.
func runGate(ctx context.Context, args, environ []string, stdout, stderr io.Writer) int {
	signals := notify() // from the start: their default is to end the program
	defer signal.Stop(signals)
	p, err := join(append([]string{"gate"}, args...), environ)
	if err != nil {
		fmt.Fprintf(stderr, "concert gate: %v\n", err)
		return exitFailed
	}
	defer p.Close()
	loaded, status := load(sources(args, p.Environ()), stdout, stderr)
	if loaded == nil {
		return status
	}
	c := *loaded.Config
	if c.GateListen == "" {
		c.GateListen = gateAddress
	}
	if c.GateAdminListen == "" {
		c.GateAdminListen = gateAdminAddress
	}
	if err := c.Validate(); err != nil {
		if c.AdminToken == "" {
			fmt.Fprint(stderr, "Set CONCERT_ADMIN_TOKEN, with which operators sign in and use the API:\n\n    CONCERT_ADMIN_TOKEN=$(openssl rand -hex 32) concert gate\n\n")
		}
		fmt.Fprintf(stderr, "concert gate cannot start with this configuration:\n%v\n", err)
		return exitUsage
	}
	log := newLogger(c.LogFormat, stderr, slog.LevelInfo)
	if err := serveGate(ctx, p, &c, log, signals); err != nil {
		fmt.Fprintf(stderr, "concert gate: %v\n", err)
		return exitFailed
	}
	return exitOK
}

// serveGate serves until ctx ends, or another process has taken over.
func serveGate(ctx context.Context, p *handover.Process, c *config.Config, log *slog.Logger, signals <-chan os.Signal) (err error) {
	data, err := persist.Open(c.DataDir, persist.Options{Log: log, Lock: p.File("lock")})
	if err != nil {
		return err
	}
	defer func() {
		if closed := data.Close(); closed != nil {
			log.Warn("the data directory was not closed", "error", closed)
		}
	}()
	var on app.Sockets
	if err := listenGate(&on, p.Listen, c); err != nil {
		return err
	}
	for _, addr := range p.CloseUnclaimed() {
		log.Warn("a socket was handed to Concert that no setting names; it is closed", "address", addr)
	}
	handed, err := takeOver(ctx, p)
	if err != nil {
		return err
	}
	g, err := app.NewGate(c, app.GateOptions{Data: data, Log: log, Process: p, Handed: handed, Version: version()})
	if err != nil {
		return err
	}
	logGate(log, "listening", on)
	return runGateOn(ctx, g, on, log, signals)
}

// runGateOn serves on the sockets and carries out signals meanwhile.
func runGateOn(ctx context.Context, g *app.Gate, on app.Sockets, log *slog.Logger, signals <-chan os.Signal) error {
	ctx, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	takeOver := func() bool { return upgrade(ctx, g.Upgrade, log) }
	reload := func(s os.Signal) {
		log.Warn("nothing to do: settings are read at the start, and keys by themselves", "signal", s.String())
	}
	wg.Go(func() { obey(ctx, signals, takeOver, reload, stop) }) // ends with ctx
	return g.Serve(ctx, on)
}

// logGate says where visitors and operators of off-site rooms are served.
func logGate(log *slog.Logger, message string, on app.Sockets) {
	operators := ""
	if on.GateAdmin != nil {
		operators = on.GateAdmin.Addr().String()
	}
	log.Info(message, "address", on.Gate.Addr().String(), "operators", operators, "version", version(), "pid", os.Getpid())
}
