package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"

	"github.com/andreimerlescu/concert/app"
	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/demo"
)

// runDemo is the subcommand that shows the main job.
func runDemo(ctx context.Context, args, _ []string, stdout, stderr io.Writer) int {
	o, err := demo.Parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		fmt.Fprintf(stderr, "concert demo: %v\n", err)
		return exitUsage
	}
	start := func(ctx context.Context, args []string) (string, func(context.Context) error, error) {
		return startInProcess(ctx, args, stderr)
	}
	if err := demo.Run(ctx, stdout, o, start); err != nil {
		fmt.Fprintf(stderr, "concert demo: %v\n", err)
		return exitFailed
	}
	return exitOK
}

// startInProcess runs Concert with the given command line beside the caller.
// stop ends it and waits for that, or for its context.
func startInProcess(ctx context.Context, args []string, stderr io.Writer) (url string, stop func(context.Context) error, err error) {
	loaded, err := config.Load(args, nil)
	if err != nil {
		return "", nil, err
	}
	a, err := app.New(loaded.Config, app.Options{Log: newLogger(loaded.Config.LogFormat, stderr, slog.LevelWarn)})
	if err != nil {
		return "", nil, err
	}
	ln, err := net.Listen("tcp", loaded.Config.Listen)
	if err != nil {
		return "", nil, err
	}
	serving, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- a.Serve(serving, ln) }() // ends when stop cancels serving
	stop = func(limit context.Context) error {
		cancel()
		select {
		case err := <-done:
			return err
		case <-limit.Done():
			return context.Cause(limit)
		}
	}
	return "http://" + ln.Addr().String() + "/", stop, nil
}
