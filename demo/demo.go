package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/andreimerlescu/concert/demo/site"
)

const (
	// tick is the pace of the printed lines.
	tick = time.Second
	// backlogPerWorker bounds how many pages may queue at the origin itself.
	backlogPerWorker = 4
	// latencySpread makes pages take 25 % less or more than the latency.
	latencySpread = 0.25
	// stopTime is how long Concert may take to finish the pages in flight.
	stopTime = 10 * time.Second
)

// Start runs Concert with the given command line (as os.Args[1:]) and returns
// the URL under which it serves, ending in a slash, and a function that stops
// it gracefully.
type Start func(ctx context.Context, args []string) (url string, stop func(context.Context) error, err error)

// Run shows the demo on w until ctx ends or the duration is over, then prints a
// summary. The error tells why the demo could not be started or stopped.
func Run(ctx context.Context, w io.Writer, o Options, start Start) error {
	if o.Duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.Duration)
		defer cancel()
	}
	origin := site.New(site.Options{
		Workers: o.Cap, Backlog: backlogPerWorker * o.Cap, Latency: o.Latency, Spread: latencySpread,
	})
	originURL, stopOrigin, err := serve(origin)
	if err != nil {
		return fmt.Errorf("start the demo's origin: %w", err)
	}
	defer stopOrigin()

	// Concert is to outlive ctx: it is stopped below, after the visitors.
	url, stop, err := start(context.WithoutCancel(ctx), concertArgs(o, originURL, w))
	if err != nil {
		return fmt.Errorf("start concert: %w", err)
	}
	introduce(w, o, url, originURL)
	s := &show{options: o, url: url, origin: origin, began: time.Now()}
	s.run(ctx, w)

	stopCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	err = stop(stopCtx)
	s.summary(w)
	if err != nil {
		return fmt.Errorf("stop concert: %w", err)
	}
	return nil
}

// concertArgs is Concert's command line: nothing on disk, no access log between
// the demo's own lines, and room for every wave.
func concertArgs(o Options, originURL string, w io.Writer) []string {
	return []string{
		"-listen", freeAddress(o.Listen, w),
		"-upstream", originURL,
		"-cap", strconv.Itoa(o.Cap),
		"-max-queue", "0",
		"-assets", site.AssetPaths,
		"-data-dir", "",
		"-access-log=false",
	}
}

// freeAddress returns address, or one with a free port when it is taken.
func freeAddress(address string, w io.Writer) string {
	l, err := net.Listen("tcp", address)
	if err == nil {
		_ = l.Close() // was only asked whether it is free
		return address
	}
	fmt.Fprintf(w, "%s is not free (%v): using another port\n", address, err)
	return "127.0.0.1:0"
}

// serve runs the origin on a free loopback port until stop is called.
func serve(h http.Handler) (url string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			panic(fmt.Sprintf("BUG: the demo's origin stopped: %v", err))
		}
	})
	return "http://" + l.Addr().String(), func() {
		_ = srv.Close() // the demo is over: open connections are cut
		serving.Wait()
	}, nil
}

func introduce(w io.Writer, o Options, url, originURL string) {
	fmt.Fprintf(w, `
  Open    %s
          You land in the waiting room and are let in when your turn comes.
  Origin  %s
          %d workers, %v a page. Without Concert in front, a crowd breaks it.
  Stop    Ctrl-C

`, url, originURL, o.Cap, o.Latency)
}
