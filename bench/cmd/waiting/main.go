// Command waiting fills a line and reports what those who wait cost.
//
//	go run ./bench/cmd/waiting
//	go run ./bench/cmd/waiting -visitors 1000000 -watch 2m
//
// It builds and runs Concert. Linux only.
package main

import (
	"context"
	"flag"
	"time"

	"github.com/andreimerlescu/concert/bench/command"
	"github.com/andreimerlescu/concert/bench/waiting"
)

func main() { command.Main("waiting", run) }

func run(ctx context.Context, args []string) error {
	var s waiting.Settings
	fs := flag.NewFlagSet("waiting", flag.ContinueOnError)
	fs.IntVar(&s.Visitors, "visitors", 100_000, "in line")
	fs.DurationVar(&s.Watch, "watch", time.Minute, "how long they are watched, once all have come")
	fs.StringVar(&s.Binary, "concert", "", "Concert to measure; empty builds it")
	if err := command.Parse(fs, args); err != nil {
		return err
	}
	_, err := command.Report(ctx, &s.Binary, func() (*waiting.Report, error) { return waiting.Run(ctx, s) })
	return err
}
