package tables

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/andreimerlescu/concert/bench/drain"
	"github.com/andreimerlescu/concert/bench/load"
	"github.com/andreimerlescu/concert/bench/soak"
	"github.com/andreimerlescu/concert/bench/waiting"
)

// Measurement is one table of the document.
type Measurement struct {
	Name string
	Run  func(ctx context.Context, o Options) (string, error)
}

// Options say how to measure.
type Options struct {
	Binary string // Concert's, as launch.Build returns it
	Self   string // a program that takes the roles of package load, see load.Settings
	// Scale shortens or lengthens everything: 1 is right for a quiet machine,
	// 0.1 shows that it works.
	Scale float64
	// Contestants are the proxies to compare with.
	Contestants []load.Contestant
}

// lasting scales a time.
func (o Options) lasting(d time.Duration) time.Duration { return time.Duration(o.Scale * float64(d)) }

// load are the settings of package load.
func (o Options) load() load.Settings {
	const rounds, slice = 24, 500 * time.Millisecond
	return load.Settings{
		Rounds: max(3, int(o.Scale*rounds)), Slice: slice, Connections: 64, Size: 1 << 10, Rate: 3000, Waiting: 100_000,
		Binary: o.Binary, Self: o.Self, Contestants: o.Contestants,
	}
}

// Measurements are all tables, in the order in which they are taken.
func Measurements() []Measurement {
	return []Measurement{
		{"machine", func(context.Context, Options) (string, error) { return machine(), nil }},
		{"pages", func(ctx context.Context, o Options) (string, error) { return text(load.Pages(ctx, o.load())) }},
		{"paced", func(ctx context.Context, o Options) (string, error) { return text(load.Paced(ctx, o.load())) }},
		{"answers", func(ctx context.Context, o Options) (string, error) { return text(load.Answers(ctx, o.load())) }},
		{"waiting", func(ctx context.Context, o Options) (string, error) {
			return text(waiting.Run(ctx, waiting.Settings{Visitors: 100_000, Watch: max(10*time.Second, o.lasting(time.Minute)), Binary: o.Binary}))
		}},
		{"drain", drains},
		{"soak", func(ctx context.Context, o Options) (string, error) {
			return text(soak.Run(ctx, soak.Settings{For: max(30*time.Second, o.lasting(10*time.Minute)), Cap: 10, Latency: 50 * time.Millisecond, Binary: o.Binary}))
		}},
		{"parts", func(ctx context.Context, o Options) (string, error) {
			return benchmarks(ctx, max(200*time.Millisecond, o.lasting(300*time.Millisecond)).String())
		}},
	}
}

// Names are those of all tables.
func Names() []string {
	var names []string
	for _, m := range Measurements() {
		names = append(names, m.Name)
	}
	return names
}

// text is a report's.
func text(report fmt.Stringer, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return report.String(), nil
}

// machine says what the tables were taken on.
func machine() string {
	return fmt.Sprintf("Taken with %s on %s/%s, %d processors, which the client, the origin and the measured share.",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
}

// drains runs every preset.
func drains(ctx context.Context, o Options) (string, error) {
	var b strings.Builder
	b.WriteString("| preset | visitors | origin | poll | leave | origin kept busy (aim) | pairs out of order | most at once (cap) | median wait s |\n" +
		"|---|---|---|---|---|---|---|---|---|\n")
	for _, s := range drain.Presets() {
		r, err := drain.Run(ctx, s, drain.Target{Binary: o.Binary})
		if err != nil {
			return "", fmt.Errorf("preset %s: %w", s.Name, err)
		}
		fmt.Fprintf(&b, "| %s | %d in %v | %v | %v | %.0f %% | %.1f %% (%.0f) | %.2f %% | %d (%d) | %.1f |\n", s.Name, s.Visitors, s.Arrival, s.Latency,
			s.Poll, 100*s.Abandon, 100*r.Utilisation, 100*s.Want, 100*r.InvertedPairs, r.Peak, s.Cap, r.WaitP50)
		for _, broken := range r.Broken() {
			return "", fmt.Errorf("preset %s: %s", s.Name, broken)
		}
	}
	return b.String(), nil
}
