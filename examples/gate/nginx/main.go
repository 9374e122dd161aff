// Command nginx answers the auth_request of the nginx.conf beside it. Its
// environment is that of concert target-demo.
//
//	WAITING_ROOM_URL=https://wait.example GATE_ROOM=demo LISTEN=127.0.0.1:8090 go run ./examples/gate/nginx
//
// Only nginx must reach it.
package main

import (
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/andreimerlescu/concert/gate/protect"
	"github.com/andreimerlescu/concert/gate/target"
)

func main() {
	addr := os.Getenv("LISTEN")
	if addr == "" {
		addr = "127.0.0.1:8090"
	}
	if err := serve(addr); err != nil {
		slog.Error("the gate has ended", "error", err)
		os.Exit(1)
	}
}

func serve(addr string) error {
	o, err := target.Parse(os.Environ())
	if err != nil {
		return err
	}
	o.Log = slog.Default()
	guard, err := protect.New(o)
	if err != nil {
		return err
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	return (&http.Server{Handler: guard.Auth(), ReadHeaderTimeout: 10 * time.Second}).Serve(ln)
}
