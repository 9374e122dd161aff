package load

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/andreimerlescu/concert/blackbox/launch"
)

// rig is what a run has started. It is used by one goroutine.
type rig struct {
	Settings
	ctx      context.Context // of the run: whatever is started ends with it at the latest
	stops    []func()
	concerts []*launch.Process
}

// blame adds to an error what every Concert has said last.
func (r *rig) blame(err error) error {
	if err == nil {
		return nil
	}
	const last = 2000
	for _, c := range r.concerts {
		said := c.Stderr()
		err = fmt.Errorf("%w\nConcert said:\n%s", err, said[max(0, len(said)-last):])
	}
	return err
}

// close ends all that was started, last first.
func (r *rig) close() {
	for i := len(r.stops) - 1; i >= 0; i-- {
		r.stops[i]()
	}
}

// play starts this program in a role.
func (r *rig) play(role string, size int, upstream string) (*process, error) {
	p, err := startSelf(r.ctx, r.Self, role, size, upstream)
	if err == nil {
		r.stops = append(r.stops, p.kill)
	}
	return p, err
}

// adminToken is that of every Concert under load.
const adminToken = "the-token-of-the-bench"

// concert starts a Concert before an origin.
func (r *rig) concert(binary, origin string, args ...string) (*target, error) {
	args = append([]string{"-upstream", "http://" + origin, "-access-log=false"}, args...)
	c, err := launch.Start(r.ctx, launch.Options{Binary: binary, Args: args, Env: []string{"CONCERT_ADMIN_TOKEN=" + adminToken}})
	if err != nil {
		return nil, err
	}
	r.stops, r.concerts = append(r.stops, c.Kill), append(r.concerts, c)
	pid, err := Listener(c.Addr)
	return &target{name: "Concert", addr: c.Addr, pid: pid}, err
}

// proxies starts everybody who stands before origin: the library's proxy first,
// then Concert and the contestants.
func (r *rig) proxies(origin string) ([]*target, error) {
	library, err := r.play(roleHTTPUtil, r.Size, "http://"+origin)
	if err != nil {
		return nil, err
	}
	targets := []*target{{name: "httputil.ReverseProxy, tuned", addr: library.addr, pid: library.pid()}}
	for _, binary := range append([]string{r.Binary}, r.Against...) {
		concert, err := r.concert(binary, origin, "-cap", strconv.Itoa(2*r.Connections))
		if err != nil {
			return nil, err
		}
		if len(targets) > 1 {
			concert.name = "Concert, " + filepath.Base(binary)
		}
		targets = append(targets, concert)
	}
	for _, c := range r.Contestants {
		dir, err := os.MkdirTemp("", "load-"+c.Program)
		if err != nil {
			return nil, err
		}
		r.stops = append(r.stops, func() { _ = os.RemoveAll(dir) })
		p, err := c.start(r.ctx, dir, origin)
		if err != nil {
			return nil, err
		}
		r.stops = append(r.stops, p.kill)
		targets = append(targets, &target{name: c.Name, addr: p.addr, pid: p.pid()})
	}
	return targets, nil
}

// meet has the visitors of every target admitted.
func (r *rig) meet(targets []*target) error {
	for _, t := range targets {
		c, err := meet(r.ctx, t.addr, r.Connections, r.Size)
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		t.crowd = c
		r.stops = append(r.stops, c.leave)
	}
	return nil
}

// target is a process under load.
type target struct {
	name    string
	addr    string
	pid     int
	crowd   *crowd
	samples []Sample
}

// load has visitors ask for a while, and returns the latencies, sorted.
type load func(c *crowd, slice time.Duration) ([]time.Duration, error)

// rounds puts the load on each target in turn, after warming it up.
func (r *rig) rounds(targets []*target, l load) ([]Row, error) {
	rows, err := r.take(targets, l)
	return rows, r.blame(err)
}

func (r *rig) take(targets []*target, l load) ([]Row, error) {
	for _, t := range targets {
		if _, err := l(t.crowd, r.Slice/2); err != nil {
			return nil, fmt.Errorf("%s: %w", t.name, err)
		}
	}
	for round := range r.Rounds {
		for i := range targets {
			t := targets[(i+round)%len(targets)] // nobody is always behind the same one
			if err := r.ctx.Err(); err != nil {
				return nil, err
			}
			if err := t.measure(l, r.Slice); err != nil {
				return nil, fmt.Errorf("%s: %w", t.name, err)
			}
		}
	}
	rows := make([]Row, len(targets))
	for i, t := range targets {
		rows[i] = Row{Name: t.name, Samples: t.samples}
	}
	return rows, nil
}

// measure is one slice.
func (t *target) measure(l load, slice time.Duration) error {
	before, err := ProcessorTime(t.pid)
	if err != nil {
		return err
	}
	began := time.Now()
	latencies, err := l(t.crowd, slice)
	if err != nil {
		return err
	}
	took := time.Since(began)
	after, err := ProcessorTime(t.pid)
	if err != nil {
		return err
	}
	n := len(latencies)
	if n == 0 {
		return errors.New("no request was answered")
	}
	t.samples = append(t.samples, Sample{
		Requests: n, Rate: float64(n) / took.Seconds(), CPU: (after - before) / time.Duration(n),
		P50: latencies[n/2], P99: latencies[n*99/100],
	})
	return nil
}
