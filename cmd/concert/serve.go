package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"time"

	"github.com/andreimerlescu/concert/app"
	"github.com/andreimerlescu/concert/certs"
	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/internal/headroom"
	"github.com/andreimerlescu/concert/internal/processors"
)

// heapHeadroom is how many bytes are allocated at the least between two
// collections of garbage: a busy proxy's heap is a few megabytes otherwise, and
// collected forty times a second.
const heapHeadroom = 64 << 20

// serve runs Concert until ctx ends, or another process has taken over.
func serve(ctx context.Context, args, environ []string, stdout, stderr io.Writer) int {
	signals := notify() // from the start: their default is to end the program
	defer signal.Stop(signals)
	p, err := join(args, environ)
	if err != nil {
		fmt.Fprintf(stderr, "concert cannot start: %v\n", err)
		return exitFailed
	}
	defer p.Close()
	loaded, status := load(sources(args, p.Environ()), stdout, stderr)
	if loaded == nil {
		return status
	}
	in, status, err := assemble(ctx, p, loaded, stdout, stderr)
	if err != nil {
		fmt.Fprintf(stderr, "concert cannot start: %v\n", err)
		return status
	}
	defer headroom.Keep(heapHeadroom)()
	defer processors.Keep(environ)()
	logStart(in.log, in.on, in.config)
	return in.run(ctx, signals)
}

// run serves until ctx ends, or another process has taken over.
func (in *instance) run(ctx context.Context, signals chan os.Signal) int {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan struct{})
	takeOver := func() bool { return upgrade(ctx, in.app.Upgrade, in.log) }
	go func() { // ends with ctx
		defer close(done)
		obey(ctx, signals, takeOver, func(os.Signal) { in.reload(ctx) }, stop)
	}()
	err := in.app.ServeOn(ctx, in.on)
	stop()
	<-done
	if err != nil {
		in.log.Error("serving ended", "error", err)
		return exitFailed
	}
	if err := in.data.Close(); err != nil {
		in.log.Warn("the data directory was not closed", "error", err)
	}
	return exitOK
}

func newLogger(format config.LogFormat, w io.Writer, level slog.Level) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if format == config.JSONLog {
		options.ReplaceAttr = inSeconds
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// inSeconds has JSON lines hold durations in seconds, as metrics do; slog's own
// form is a number of nanoseconds.
func inSeconds(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.Float64Value(a.Value.Duration().Seconds())
	}
	return a
}

// logStart says in one line what is protected and how, last of all: before it
// stands what there is beside, one line each.
func logStart(log *slog.Logger, on app.Sockets, c *config.Config) {
	for _, line := range certs.Describe(c.Certificates(), time.Now()) {
		log.Info(line)
	}
	if on.Redirect != nil {
		log.Info("plain HTTP beside TLS", "address", on.Redirect.Addr().String())
	}
	if all := c.Rooms.All(); len(all) > 0 {
		log.Info("rooms beside the default one", "rooms", len(all), "caps", c.Cap+c.Rooms.Caps())
	}
	if on.Gate != nil {
		logGate(log, "off-site rooms", on)
	}
	if on.Portal != nil {
		log.Info("operator portal", "address", on.Portal.Addr().String(), "allow", c.PortalAllow.String(), "viewers", c.PortalViewerPass != "")
	}
	log.Info("listening", "address", on.Site.Addr().String(), "tls", c.TLS(), "upstream", c.UpstreamName(), "cap", c.Cap,
		"max_queue", c.MaxQueue, "token_ttl", c.TicketTTL(), "first_poll_grace", c.FirstPollGrace,
		"asset_cap", c.AssetSlots(), "stream_cap", c.StreamCap, "version", version(), "pid", os.Getpid())
}
