// Command concert is a waiting room in front of any web site.
//
//	concert [flags]        serve
//	concert check [flags]  check the configuration, print it and exit
//	concert ctl COMMAND    tell a running Concert what to do
//	concert demo [flags]   show the main job, with an origin and visitors of its own
//	concert gate [flags]   serve off-site rooms alone, without a proxy
//	concert health [flags] ask the Concert of these flags whether it is alive
//	concert keys …         make, rotate and list the keys that sign their tokens
//	concert page FILE      write the built-in waiting page, to start one's own from
//	concert target-demo    run an example of a site behind an off-site room
//	concert -version       print the version and exit
//
// SIGHUP has a serving Concert read its settings again, SIGUSR2 has a new
// process of the program take over without closing a socket.
//
// Exit status: 0 after a stop that was asked for, 1 when serving failed, 2 when
// the configuration or the command line is wrong, 3 when a second signal cut the
// stop short.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/persist"
)

// Exit statuses.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
	exitCut    = 3 // a second signal ended it, whatever was under way
)

func main() {
	ctx, stop := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() { // ends with the process
		<-signals
		stop()
		<-signals
		os.Exit(exitCut) // not the default action: between the two it would be set too late
	}()
	os.Exit(run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr))
}

const usage = `Concert is a waiting room in front of any web site.

  concert [flags]         serve
  concert check [flags]   check the configuration, print it and exit
  concert ctl COMMAND     tell a running Concert what to do; concert ctl -help
  concert demo [flags]    show the main job, with an origin and visitors of its own
  concert gate [flags]    serve off-site rooms alone, without a proxy
  concert health [flags]  ask the Concert of these flags whether it is alive
  concert keys …          make, rotate and list the keys that sign their tokens
  concert page FILE       write the built-in waiting page, to start one's own from
  concert target-demo     run an example of a site behind an off-site room
  concert -version        print the version and exit

`

// command is one subcommand: a row of the table below.
type command struct {
	name string
	run  func(ctx context.Context, args, environ []string, stdout, stderr io.Writer) int
}

func commands() []command {
	return []command{
		{"check", runCheck},
		{"ctl", runCtl},
		{"demo", runDemo},
		{"docs", runDocs},
		{"gate", runGate},
		{"health", runHealth},
		{"keys", runKeys},
		{"page", runPage},
		{"target-demo", runTarget},
	}
}

// run picks the subcommand; without one, Concert serves.
func run(ctx context.Context, args, environ []string, stdout, stderr io.Writer) int {
	if len(args) > 0 {
		for _, c := range commands() {
			if c.name == args[0] {
				return c.run(ctx, args[1:], environ, stdout, stderr)
			}
		}
	}
	return serve(ctx, args, environ, stdout, stderr)
}

// load reads the configuration. When it returns nil, the exit status says how
// to end: help and the version are answered here.
func load(from config.Sources, stdout, stderr io.Writer) (*config.Loaded, int) {
	loaded, err := from.Load()
	switch {
	case errors.Is(err, config.ErrHelp):
		fmt.Fprint(stdout, usage)
		if err := config.WriteHelp(stdout); err != nil {
			return nil, exitFailed
		}
		return nil, exitOK
	case errors.Is(err, config.ErrVersion):
		fmt.Fprintln(stdout, version())
		return nil, exitOK
	case err != nil:
		fmt.Fprintf(stderr, "concert cannot start with this configuration:\n%v\n", err)
		for _, w := range loaded.Warnings {
			fmt.Fprintln(stderr, "warning:", w)
		}
		return nil, exitUsage
	}
	return loaded, exitOK
}

// runCheck is the subcommand that prints the effective configuration.
func runCheck(_ context.Context, args, environ []string, stdout, stderr io.Writer) int {
	loaded, status := load(sources(args, environ), stdout, stderr)
	if loaded == nil {
		return status
	}
	if err := persist.Probe(loaded.Config.DataDir); err != nil {
		loaded.Warnings = append(loaded.Warnings, err.Error())
	}
	if err := config.WriteCheck(stdout, loaded); err != nil {
		fmt.Fprintln(stderr, err)
		return exitFailed
	}
	return exitOK
}
