package fleet

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http/httptest"
	"net/url"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/blackbox/launch"
	"github.com/andreimerlescu/concert/demo/crowd"
	"github.com/andreimerlescu/concert/demo/site"
	"github.com/andreimerlescu/concert/line/redis/redistest"
)

// secret signs the tickets of all instances.
const secret = "a secret of the fleet bench that is long enough to sign with"

// Scenario is a crowd, the fleet it comes to, and what goes wrong.
type Scenario struct {
	Instances int
	Visitors  int
	Arrival   time.Duration // they arrive evenly within this
	Poll      time.Duration // pause between polls; 0: as the answers say
	Latency   time.Duration // the origin's time for a page
	Cap       int
	Timeout   time.Duration
	Args      []string // for the instances, beside what is needed
	Network   bool     // give each instance a network of its own, where that is possible
	Faults    []Fault
}

// Fleet is a running scenario.
type Fleet struct {
	tb    testing.TB
	s     Scenario
	net   network
	Redis *redistest.Server

	origin    *site.Site
	originURL string
	balancer  *balancer
	instances []*launch.Process
	served    atomic.Int64
}

// Run plays a scenario.
func Run(tb testing.TB, binary string, s Scenario) *Report {
	tb.Helper()
	f := &Fleet{tb: tb, s: s, net: connect(tb, binary, s), balancer: newBalancer(s.Instances)}
	f.Redis = f.net.redis()
	// More workers than any cap: the origin must see it when the cap fails.
	f.origin = site.New(site.Options{Workers: s.Visitors, Latency: s.Latency})
	ln, err := net.Listen("tcp", net.JoinHostPort(f.net.home(), "0"))
	if err != nil {
		tb.Fatal(err)
	}
	srv := httptest.NewUnstartedServer(f.origin)
	srv.Listener.Close()
	srv.Listener = ln
	srv.Start()
	tb.Cleanup(srv.Close)
	f.originURL = srv.URL
	f.instances = make([]*launch.Process, s.Instances)
	for k := range f.instances {
		f.Start(k)
	}
	tb.Cleanup(func() {
		for k := range f.instances {
			f.Kill(k)
		}
		f.balancer.transport.CloseIdleConnections()
	})
	ctx, cancel := context.WithTimeout(tb.Context(), s.Timeout)
	defer cancel()
	w := watch(ctx, f)
	results, began := f.send(ctx)
	return f.report(results, began, w.end())
}

// Start runs an instance that does not run.
func (f *Fleet) Start(k int) {
	f.tb.Helper()
	binary, args, env := f.net.join(k)
	args = append(args, "-upstream", f.originURL, "-cap", strconv.Itoa(f.s.Cap), "-max-queue", "0",
		"-access-log=false", "-history=false", "-instance", fmt.Sprintf("i%d", k))
	p, err := launch.Start(f.tb.Context(), launch.Options{
		Binary: binary, Args: append(args, f.s.Args...), Env: append(env, "CONCERT_ADMIT_SECRET="+secret),
	})
	if err != nil {
		f.tb.Error(err)
		return
	}
	f.instances[k] = p
	f.balancer.set(k, p.Addr)
}

// Kill ends an instance as kill -9 does.
func (f *Fleet) Kill(k int) {
	if p := f.instances[k]; p != nil {
		f.balancer.set(k, "")
		p.Kill()
		f.instances[k] = nil
	}
}

func (f *Fleet) send(ctx context.Context) ([]crowd.Result, time.Time) {
	results := make([]crowd.Result, f.s.Visitors)
	page := (&url.URL{Scheme: "http", Host: "fleet.test", Path: "/"}).String()
	began := time.Now()
	n := crowd.Send(ctx, f.s.Visitors, f.s.Arrival, func(ctx context.Context, i int) {
		v := crowd.Visitor{
			Page: page, Address: crowd.Address(i), Poll: f.s.Poll, Jitter: 0.1, Transport: f.balancer,
			Rand: rand.New(rand.NewPCG(1, uint64(i))),
		}
		results[i] = v.Visit(ctx)
		f.served.Add(1)
	})
	return results[:n], began
}
