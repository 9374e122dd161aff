package soak

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/andreimerlescu/concert/blackbox/launch"
	"github.com/andreimerlescu/concert/demo/crowd"
	"github.com/andreimerlescu/concert/demo/site"
	"github.com/andreimerlescu/concert/internal/ticks"
)

// Settings of a run.
type Settings struct {
	For     time.Duration // 5s to 24h
	Cap     int           // pages at once, at the most: 2 to 200
	Latency time.Duration // the origin's time for a page: 5ms to 5s
	Binary  string        // Concert's, as launch.Build returns it
}

func (s Settings) check() error {
	var errs []error
	if s.For < 5*time.Second || s.For > 24*time.Hour {
		errs = append(errs, fmt.Errorf("for %v: want 5s to 24h", s.For))
	}
	if s.Cap < 2 || s.Cap > 200 {
		errs = append(errs, fmt.Errorf("cap %d: want 2 to 200", s.Cap))
	}
	if s.Latency < 5*time.Millisecond || s.Latency > 5*time.Second {
		errs = append(errs, fmt.Errorf("latency %v: want 5ms to 5s", s.Latency))
	}
	return errors.Join(errs...)
}

const (
	adminToken = "the-token-of-the-bench"
	waveTime   = time.Second // within which a wave arrives
	fewest     = 3           // waves, also when they take longer than the run was to: growth shows in thirds
	leaving    = 0.2         // share that leaves at the sight of the line
	addresses  = 512         // of visitors: what is kept of each must not look like growth
)

// Run keeps Concert busy and reports what it found.
func Run(ctx context.Context, s Settings) (*Report, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	// More workers than any cap: the origin must see it when the cap fails.
	origin := site.New(site.Options{Workers: 100 * s.Cap, Latency: s.Latency, Spread: 0.5})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the origin: %w", err)
	}
	audit := newAuditor(origin, s.Cap)
	server := &http.Server{Handler: audit, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(ln) }() // ends with Close
	defer func() { _ = server.Close() }()
	c, err := launch.Start(ctx, launch.Options{Binary: s.Binary, Env: []string{"CONCERT_ADMIN_TOKEN=" + adminToken}, Args: []string{
		"-upstream", "http://" + ln.Addr().String(), "-cap", strconv.Itoa(s.Cap), "-max-queue", "0", "-access-log=false",
		"-assets", site.AssetPaths, "-token-ttl", "30s", "-abuse-strikes", "1000000", "-priority-cap", "0",
	}})
	if err != nil {
		return nil, err
	}
	defer c.Kill()
	r := &run{Settings: s, origin: audit, concert: c, report: &Report{Settings: s}, began: time.Now()}
	if err := r.soak(ctx); err != nil {
		return nil, fmt.Errorf("%w\nConcert said:\n%s", err, c.Stderr())
	}
	return r.report, nil
}

// run is one run's state.
type run struct {
	Settings
	origin  *auditor
	concert *launch.Process
	report  *Report
	began   time.Time

	mu sync.Mutex // guards what visitors and mischief add to the report
}

// soak sends wave after wave until the time is over; what happens beside them
// ends with the time.
func (r *run) soak(ctx context.Context) error {
	end := time.Now().Add(r.For)
	// Not WithDeadline: a dialer looks at the clock itself, and may give up a moment
	// before the context is done, which would count as a failure.
	beside, stop := context.WithCancel(ctx)
	defer stop()
	defer time.AfterFunc(r.For, stop).Stop()
	var wg sync.WaitGroup
	for _, act := range r.acts() {
		wg.Go(func() { // ends with the time
			for n := 0; beside.Err() == nil; n++ {
				r.note(beside, act.name, act.do(beside, n))
				ticks.Pause(beside, act.every)
			}
		})
	}
	for wave := 0; (wave < fewest || time.Now().Before(end)) && ctx.Err() == nil; wave++ {
		r.wave(ctx, wave)
		s, err := r.sample(ctx)
		if err != nil {
			stop()
			wg.Wait()
			return err
		}
		r.report.Samples = append(r.report.Samples, s)
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	last, err := r.settled(ctx)
	r.report.Last, r.report.Peak = last, r.origin.mostAtOnce()
	return err
}

// wave sends twice the visitors that can be served while they arrive, and waits
// for the last.
func (r *run) wave(ctx context.Context, wave int) {
	n := max(10, int(2*float64(r.Cap)*float64(waveTime)/float64(r.Latency)))
	crowd.Send(ctx, n, waveTime, func(ctx context.Context, i int) {
		random := rand.New(rand.NewPCG(uint64(wave), uint64(i)))
		v := crowd.Visitor{
			Page: r.concert.URL + "/", Address: crowd.Address(i % addresses), Jitter: 0.1, Rand: random,
			Leaves: random.Float64() < leaving,
		}
		result := v.Visit(ctx)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.report.Visitors++
		switch result.Outcome {
		case crowd.Admitted:
			r.report.Admitted++
		case crowd.Left:
			r.report.Left++
		default:
			r.report.failed(fmt.Errorf("visitor: outcome %d: %w", result.Outcome, result.Err))
		}
	})
}

// note counts an act, and remembers what was wrong with the answer. What the
// end of the run has cut short counts as nothing.
func (r *run) note(ctx context.Context, name string, err error) {
	if ctx.Err() != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Acts++
	if err != nil {
		r.report.failed(fmt.Errorf("%s: %w", name, err))
	}
}
