// Command soak keeps Concert busy for minutes and looks for what only shows with
// time: growing memory, lost slots, leaking goroutines.
//
//	go run ./bench/cmd/soak                # ten minutes
//	go run ./bench/cmd/soak -for 30s -cap 20 -latency 20ms
//
// It builds and runs Concert. The exit status is 1 when something did not hold.
package main

import (
	"context"
	"flag"
	"time"

	"github.com/andreimerlescu/concert/bench/command"
	"github.com/andreimerlescu/concert/bench/soak"
)

func main() { command.Main("soak", run) }

// run makes one run and prints its report.
func run(ctx context.Context, args []string) error {
	var s soak.Settings
	fs := flag.NewFlagSet("soak", flag.ContinueOnError)
	fs.DurationVar(&s.For, "for", 10*time.Minute, "how long")
	fs.IntVar(&s.Cap, "cap", 10, "pages at the origin at once, at the most")
	fs.DurationVar(&s.Latency, "latency", 50*time.Millisecond, "the origin's time for a page")
	fs.StringVar(&s.Binary, "concert", "", "Concert to soak; empty builds it")
	if err := command.Parse(fs, args); err != nil {
		return err
	}
	report, err := command.Report(ctx, &s.Binary, func() (*soak.Report, error) { return soak.Run(ctx, s) })
	if err == nil && len(report.Broken()) > 0 {
		err = command.ErrNotHeld
	}
	return err
}
