// Command drain sends a crowd to a waiting line and reports how it was drained.
//
//	go run ./bench/cmd/drain -preset B3
//	go run ./bench/cmd/drain -visitors 500 -arrival 1s -poll 2s -abandon 0.3 -latency 100ms -cap 20
//
// It builds and runs Concert. With -url it uses a proxy that already runs and
// forwards to -origin. The exit status is 1 when a visitor was lost, the cap
// was exceeded or the preset's aim was missed.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/andreimerlescu/concert/bench/command"
	"github.com/andreimerlescu/concert/bench/drain"
)

func main() { command.Main("drain", run) }

// settings is the command line.
type settings struct {
	scenario drain.Scenario
	target   drain.Target
	asJSON   bool
}

// run makes one run and prints its report.
func run(ctx context.Context, args []string) error {
	s, err := parse(args)
	if err != nil {
		return err
	}
	if s.target.URL == "" {
		binary, remove, err := command.Concert(ctx, s.target.Binary)
		if err != nil {
			return err
		}
		defer remove()
		s.target.Binary = binary
	}
	report, err := drain.Run(ctx, s.scenario, s.target)
	if err != nil {
		return err
	}
	if s.asJSON {
		enc := json.NewEncoder(os.Stdout)
		enc.SetIndent("", "  ")
		err = enc.Encode(report)
	} else {
		_, err = fmt.Print(report)
	}
	if err == nil && len(report.Broken())+len(report.Missed()) > 0 {
		err = command.ErrNotHeld
	}
	return err
}

// parse reads the flags; those that were given override the preset's values.
func parse(args []string) (settings, error) {
	s := settings{}
	given := drain.Scenario{Name: "custom"}
	fs := flag.NewFlagSet("drain", flag.ContinueOnError)
	preset := fs.String("preset", "A", "A, B1, B3, C1 or C3: where to start from")
	fs.IntVar(&given.Visitors, "visitors", 0, "how many visitors")
	fs.DurationVar(&given.Arrival, "arrival", 0, "time within which they arrive")
	fs.DurationVar(&given.Poll, "poll", 0, "pause between two polls; 0 is as the answers say")
	fs.Float64Var(&given.Abandon, "abandon", 0, "share that leaves at the sight of the line")
	fs.DurationVar(&given.Latency, "latency", 0, "the origin's time for a page")
	fs.IntVar(&given.Cap, "cap", 0, "concert's cap")
	fs.DurationVar(&given.Timeout, "timeout", 2*time.Minute, "end of the run")
	fs.Uint64Var(&given.Seed, "seed", 1, "of who leaves and of the polls' jitter")
	fs.StringVar(&s.target.Binary, "binary", "", "a concert binary to run instead of building one")
	fs.StringVar(&s.target.URL, "url", "", "address of a running proxy to use instead of concert; loopback only")
	fs.StringVar(&s.target.Origin, "origin", "", "where the slow origin listens; a free port by default")
	fs.BoolVar(&s.asJSON, "json", false, "print the report as JSON")
	if err := command.Parse(fs, args); err != nil {
		return s, err
	}
	var err error
	if s.scenario, err = drain.Preset(*preset); err != nil {
		return s, err
	}
	fs.Visit(func(f *flag.Flag) { override(&s.scenario, given, f.Name) })
	return s, s.scenario.Check()
}

// override copies the field of that flag. A preset of which a field was changed
// is not the preset any more: it loses its name and its aim.
func override(to *drain.Scenario, from drain.Scenario, name string) {
	switch name {
	case "visitors":
		to.Visitors = from.Visitors
	case "arrival":
		to.Arrival = from.Arrival
	case "poll":
		to.Poll = from.Poll
	case "abandon":
		to.Abandon = from.Abandon
	case "latency":
		to.Latency = from.Latency
	case "cap":
		to.Cap = from.Cap
	case "timeout":
		to.Timeout = from.Timeout
		return
	case "seed":
		to.Seed = from.Seed
		return
	default:
		return
	}
	to.Name, to.Want = from.Name, 0
}
