package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/gate/target"
)

const targetUsage = `usage: concert target-demo [-listen ADDRESS]

A site behind an off-site room, to try one. Its environment:
  WAITING_ROOM_URL  public address of concert gate, to send visitors without a token to
  GATE_ROOM         the room's id; without it or the above nobody is sent away
  TOKEN_AUDIENCE    what tokens must be for (the room's id)
  JWKS_URL          where the keys are (WAITING_ROOM_URL/.well-known/jwks.json)
  VALIDATE_URL      WAITING_ROOM_URL/api/v1/validate takes each token once
  SESSION_KEY       64 hexadecimal digits that instances share (random)
  SECURE_COOKIE     true behind a proxy that speaks TLS

`

// runTarget is the subcommand that runs the example of a protected site.
func runTarget(ctx context.Context, args, environ []string, _, stderr io.Writer) int {
	flags := flag.NewFlagSet("concert target-demo", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, targetUsage)
		flags.PrintDefaults()
	}
	addr := flags.String("listen", "127.0.0.1:8089", "address to listen on")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		return exitUsage
	case flags.NArg() > 0:
		flags.Usage()
		return exitUsage
	}
	o, err := target.Parse(environ)
	if err != nil {
		fmt.Fprintf(stderr, "concert target-demo: %v\n", err)
		return exitUsage
	}
	o.Log = newLogger(config.TextLog, stderr, slog.LevelInfo)
	site, err := target.New(o)
	if err != nil {
		fmt.Fprintf(stderr, "concert target-demo: %v\n", err)
		return exitUsage
	}
	ln, err := net.Listen("tcp", *addr)
	if err != nil {
		fmt.Fprintf(stderr, "concert target-demo: %v\n", explainListen("-listen", *addr, err))
		return exitFailed
	}
	o.Log.Info("listening", "address", ln.Addr().String(), "waiting_room", o.WaitingRoomURL, "room", o.Room)
	if err := serveTarget(ctx, ln, site); err != nil {
		fmt.Fprintf(stderr, "concert target-demo: %v\n", err)
		return exitFailed
	}
	return exitOK
}

// serveTarget serves until ctx ends, and finishes what is under way.
func serveTarget(ctx context.Context, ln net.Listener, site http.Handler) error {
	srv := &http.Server{Handler: site, ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(ln) }() // ends with Shutdown or Close
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := srv.Shutdown(grace); err != nil {
		return srv.Close() // what is left has had its time
	}
	return nil
}
