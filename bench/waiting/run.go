package waiting

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/andreimerlescu/concert/bench/load"
	"github.com/andreimerlescu/concert/blackbox/launch"
)

// Settings of a run.
type Settings struct {
	Visitors int           // in line: 1000 to 1,000,000
	Watch    time.Duration // how long they are watched, once all have come
	Binary   string        // Concert's, as launch.Build returns it
}

func (s Settings) check() error {
	var errs []error
	if s.Visitors < 1000 || s.Visitors > 1_000_000 {
		errs = append(errs, fmt.Errorf("visitors %d: want 1000 to 1000000", s.Visitors))
	}
	if s.Watch < time.Second || s.Watch > time.Hour {
		errs = append(errs, fmt.Errorf("watch %v: want 1s to 1h", s.Watch))
	}
	return errors.Join(errs...)
}

// Report is what a run found.
type Report struct {
	Settings      Settings
	Start         int64         // bytes of memory before anybody came
	Joined        int64         // when all had come
	Peak          int64         // the most, to the end
	Joining       time.Duration // how long they took to come
	PageCPU       time.Duration // processor time for each who came
	Polls         int
	CPU           float64       // processors busy with polls: 1 is all of one
	P50, P99, Max time.Duration // from connecting to the answer
}

// String returns the report as a table in Markdown.
func (r *Report) String() string {
	var b strings.Builder
	b.WriteString("| waiting | memory, MiB: empty | all have come | peak | CPU µs per newcomer | polls/s | processors | poll ms p50 | p99 |\n" +
		"|---|---|---|---|---|---|---|---|---|\n")
	const mib = 1 << 20
	fmt.Fprintf(&b, "| %d | %.0f | %.0f | %.0f | %.0f | %.0f | %.2f | %.2f | %.1f |\n", r.Settings.Visitors,
		float64(r.Start)/mib, float64(r.Joined)/mib, float64(r.Peak)/mib, float64(r.PageCPU)/float64(time.Microsecond),
		float64(r.Polls)/r.Settings.Watch.Seconds(), r.CPU, 1000*r.P50.Seconds(), 1000*r.P99.Seconds())
	return b.String()
}

// workers are how many requests are under way at the most.
const workers = 64

// Run fills a line and watches it.
func Run(ctx context.Context, s Settings) (*Report, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	origin, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	defer func() { _ = origin.Close() }()
	go swallow(origin) // ends with the listener
	c, err := launch.Start(ctx, launch.Options{Binary: s.Binary, Args: []string{
		"-upstream", "http://" + origin.Addr().String(), "-cap", "1", "-max-queue", "0", "-upstream-timeout", "2h", "-access-log=false",
	}})
	if err != nil {
		return nil, err
	}
	defer c.Kill()
	first, err := net.Dial("tcp", c.Addr)
	if err != nil {
		return nil, fmt.Errorf("take the slot: %w", err)
	}
	defer func() { _ = first.Close() }()
	if _, err := io.WriteString(first, "GET / HTTP/1.1\r\nHost: shop.example\r\n\r\n"); err != nil {
		return nil, fmt.Errorf("take the slot: %w", err)
	}
	r := &Report{Settings: s}
	if err := r.measure(ctx, c.Addr); err != nil {
		return nil, fmt.Errorf("%w\nConcert said:\n%s", err, c.Stderr())
	}
	return r, nil
}

// swallow takes requests and answers none.
func swallow(ln net.Listener) {
	for {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		go func() { // ends with Concert
			_, _ = io.Copy(io.Discard, c)
			_ = c.Close()
		}()
	}
}

func (r *Report) measure(ctx context.Context, addr string) error {
	pid, err := load.Listener(addr)
	if err != nil {
		return err
	}
	var memory, cpu [3]int64 // before, when all have come, at the end
	read := func(i int, field string) {
		if err == nil {
			memory[i], err = status(pid, field)
		}
		if err == nil {
			var used time.Duration
			used, err = load.ProcessorTime(pid)
			cpu[i] = int64(used)
		}
	}
	read(0, "VmRSS")
	began := time.Now()
	crowd, jerr := join(ctx, addr, r.Settings.Visitors, workers)
	r.Joining = time.Since(began)
	read(1, "VmRSS")
	if err = errors.Join(err, jerr); err != nil {
		return err
	}
	took, werr := crowd.wait(ctx, addr, time.Now().Add(r.Settings.Watch), workers)
	read(2, "VmHWM")
	if err = errors.Join(err, werr); err != nil {
		return err
	}
	r.Start, r.Joined, r.Peak = memory[0], memory[1], memory[2]
	r.PageCPU = time.Duration(cpu[1]-cpu[0]) / time.Duration(r.Settings.Visitors)
	r.CPU = time.Duration(cpu[2]-cpu[1]).Seconds() / r.Settings.Watch.Seconds()
	r.latencies(took)
	return nil
}

func (r *Report) latencies(took []time.Duration) {
	n := len(took)
	if r.Polls = n; n == 0 {
		return
	}
	slices.Sort(took)
	r.P50, r.P99, r.Max = took[n/2], took[n*99/100], took[n-1]
}

// status returns a figure of /proc/PID/status, in bytes.
func status(pid int, field string) (int64, error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("memory of process %d: %w", pid, err)
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if value, found := strings.CutPrefix(lines.Text(), field+":"); found {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("memory of process %d: no %s", pid, field)
}
