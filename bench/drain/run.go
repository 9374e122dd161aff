package drain

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/andreimerlescu/concert/blackbox/launch"
	"github.com/andreimerlescu/concert/demo/crowd"
	"github.com/andreimerlescu/concert/demo/site"
)

// pollJitter spreads the polls, as browsers' timers do.
const pollJitter = 0.1

// Target is what stands in front of the origin.
type Target struct {
	// Binary is Concert's, which is run with Args after the scenario's own.
	Binary string
	Args   []string
	// URL, instead of Binary, is of a proxy that runs already and forwards to
	// Origin. It must be a loopback address.
	URL string
	// Origin is where the slow origin listens; empty is a free loopback port.
	Origin string
}

// Run sends the scenario's crowd and reports how it was treated. The error
// tells why the run could not be made; what the run found is in the report.
func Run(ctx context.Context, s Scenario, t Target) (*Report, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	// More workers than any cap: the origin must see it when the cap fails.
	origin := site.New(site.Options{Workers: s.Visitors, Latency: s.Latency})
	originURL, stop, err := serveOrigin(origin, t.Origin)
	if err != nil {
		return nil, err
	}
	defer stop()

	page := t.URL
	if page == "" {
		p, err := launch.Start(ctx, launch.Options{Binary: t.Binary, Args: append(concertArgs(s, originURL), t.Args...)})
		if err != nil {
			return nil, err
		}
		defer p.Kill()
		page = p.URL + "/"
	}
	if err := loopback(page); err != nil {
		return nil, err
	}
	results, began := send(ctx, s, page)
	return summarise(s, results, began, origin.Stats()), nil
}

func concertArgs(s Scenario, originURL string) []string {
	return []string{"-upstream", originURL, "-cap", strconv.Itoa(s.Cap), "-max-queue", "0", "-access-log=false"}
}

// send plays the whole crowd and returns what happened to each visitor.
func send(ctx context.Context, s Scenario, page string) ([]crowd.Result, time.Time) {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	results := make([]crowd.Result, s.Visitors)
	leaves := make([]bool, s.Visitors)
	choice := rand.New(rand.NewPCG(s.Seed, 1))
	for i := range leaves {
		leaves[i] = choice.Float64() < s.Abandon
	}
	began := time.Now()
	n := crowd.Send(ctx, s.Visitors, s.Arrival, func(ctx context.Context, i int) {
		v := crowd.Visitor{
			Page: page, Address: crowd.Address(i), Poll: s.Poll, Jitter: pollJitter, Leaves: leaves[i],
			Rand: rand.New(rand.NewPCG(s.Seed, uint64(i)+2)),
		}
		results[i] = v.Visit(ctx)
	})
	return results[:n], began
}

func serveOrigin(h http.Handler, address string) (originURL string, stop func(), err error) {
	if address == "" {
		address = "127.0.0.1:0"
	}
	if err := loopback("http://" + address); err != nil {
		return "", nil, err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return "", nil, fmt.Errorf("start the origin: %w", err)
	}
	srv := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }() // ends when stop closes the server
	return "http://" + l.Addr().String(), func() {
		_ = srv.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			panic(fmt.Sprintf("BUG: the origin stopped by itself: %v", err))
		}
	}, nil
}

// loopback refuses every address that is not on this machine: a crowd is not
// to be sent anywhere else.
func loopback(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(u.Hostname()); u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("%s: only loopback addresses are allowed", address)
	}
	return nil
}
