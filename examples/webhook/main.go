// Command webhook lets paid visitors skip the line: it takes the webhooks of a
// payment provider, checks their signatures, and has Concert promote the
// ticket that was paid for.
//
//	PROVIDER_SECRET=whsec_… CONCERT_ADMIN_TOKEN=… go run ./examples/webhook 127.0.0.1:9090 http://127.0.0.1:8080
//
// Its first argument is where to listen, its second where Concert is. The
// provider's events go to POST /paid, and look like this:
//
//	Provider-Signature: t=<unix seconds>,v1=<hex of HMAC-SHA256(secret, "<t>.<body>")>
//
//	{"type": "payment.succeeded", "payment": {"id": "pay_1", "reference": "<ref of the waiting page>"}}
//
// The scheme is the one that large providers use, so that only names differ.
// The way there: -skip-url leads from the waiting page to the seller's payment
// page, with the ticket's signed reference as ref. The payment page shows what
// GET /_room/quote?ref=… says it costs, and hands ref to the provider as the
// reference of the payment.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Getenv("PROVIDER_SECRET"), os.Getenv("CONCERT_ADMIN_TOKEN")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run serves webhooks until ctx ends.
func run(ctx context.Context, args []string, secret, token string) error {
	if len(args) != 2 || secret == "" || token == "" {
		return errors.New("usage: PROVIDER_SECRET=… CONCERT_ADMIN_TOKEN=… webhook ADDRESS CONCERT_URL")
	}
	mux := http.NewServeMux()
	mux.Handle("POST /paid", &webhook{
		secret: []byte(secret),
		now:    time.Now,
		seller: seller{client: &http.Client{Timeout: 10 * time.Second}, concert: args[1], token: token},
		log:    slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	server := &http.Server{Addr: args[0], Handler: mux, ReadTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() }) // the provider repeats what is cut off
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve webhooks: %w", err)
	}
	return nil
}
