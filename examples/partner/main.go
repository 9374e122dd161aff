// Command partner embeds Concert in a Go program and adds a stage of its own:
// requests with a partner's signed header go past the waiting line.
//
//	PARTNER_KEY=$(openssl rand -hex 32) go run ./examples/partner -upstream http://127.0.0.1:3000 -cap 5
//
// A partner signs the path it asks for and the minute in which it does:
//
//	Partner-Signature: <unix minute>.<hex of HMAC-SHA256(key, "<unix minute> <path>")>
package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"

	"github.com/andreimerlescu/concert/app"
	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/pipeline"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Environ(), os.Getenv("PARTNER_KEY")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run serves Concert with the partner stage until ctx ends.
func run(ctx context.Context, args, environ []string, key string) error {
	loaded, err := config.Load(args, environ)
	if err != nil {
		return err
	}
	a, err := newApp(loaded.Config, []byte(key))
	if err != nil {
		return err
	}
	ln, err := net.Listen("tcp", loaded.Config.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	return a.Serve(ctx, ln)
}

// newApp is Concert with the partner stage in front of the queue, and with a
// refusal in the program's own words.
func newApp(c *config.Config, key []byte) (*app.App, error) {
	return app.New(c, app.Options{
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
		Stages: func(order *pipeline.Order) error {
			return order.Before("queue", &partnerStage{key: key})
		},
		Texts: map[pipeline.Reason]pipeline.Text{
			pipeline.LineShut: {Title: "The doors open at ten"},
		},
	})
}
