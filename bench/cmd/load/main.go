// Command load compares what Concert's answers cost with what others' cost, and
// prints a table.
//
//	go run ./bench/cmd/load                  # proxying a page, as fast as it goes
//	go run ./bench/cmd/load -what paced      # the time added to a page at a steady rate
//	go run ./bench/cmd/load -what answers    # the waiting page, a poll, a refusal
//	go run ./bench/cmd/load -rounds 20 -slice 3s -connections 64 -size 1024 -others nginx,haproxy
//	go run ./bench/cmd/load -others "" -against /tmp/concert-of-before
//	go run ./bench/cmd/load -rounds 1 -others "" -profile cpu.pprof
//
// It builds and runs Concert, and nginx, HAProxy and Caddy where they are
// installed. Linux only, which has a clock of processor time for each process.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/andreimerlescu/concert/bench/command"
	"github.com/andreimerlescu/concert/bench/load"
)

func main() { command.Main("load", run) }

// what can be measured.
var what = map[string]func(ctx context.Context, s load.Settings) (fmt.Stringer, error){
	"pages":   func(ctx context.Context, s load.Settings) (fmt.Stringer, error) { return load.Pages(ctx, s) },
	"paced":   func(ctx context.Context, s load.Settings) (fmt.Stringer, error) { return load.Paced(ctx, s) },
	"answers": func(ctx context.Context, s load.Settings) (fmt.Stringer, error) { return load.Answers(ctx, s) },
}

func run(ctx context.Context, args []string) error {
	var s load.Settings
	fs := flag.NewFlagSet("load", flag.ContinueOnError)
	fs.IntVar(&s.Rounds, "rounds", 10, "how many rounds")
	fs.DurationVar(&s.Slice, "slice", 2*time.Second, "how long each target is loaded in a round")
	fs.IntVar(&s.Connections, "connections", 64, "how many visitors ask at once")
	fs.IntVar(&s.Size, "size", 1<<10, "bytes of the page")
	fs.IntVar(&s.Rate, "rate", 3000, "paced: requests a second")
	fs.IntVar(&s.Waiting, "waiting", 100_000, "answers: visitors in line")
	fs.StringVar(&s.Binary, "concert", "", "Concert to measure; empty builds it")
	fs.Func("against", "pages, paced: another Concert to compare with, such as the version before; can be given again", func(file string) error {
		s.Against = append(s.Against, file)
		return nil
	})
	fs.StringVar(&s.Profile, "profile", "", "pages, answers: a file for a profile of Concert's processor time")
	kind := fs.String("what", "pages", "pages, paced or answers")
	others := fs.String("others", "nginx,haproxy,caddy", "proxies to compare with, where they are installed")
	role := fs.String("role", "", "be a part of a run, as runs start it")
	upstream := fs.String("upstream", "", "the origin of such a part")
	if err := command.Parse(fs, args); err != nil {
		return err
	}
	if *role != "" {
		return load.Play(*role, os.Stdout, s.Size, *upstream)
	}
	measure, known := what[*kind]
	if !known {
		return fmt.Errorf("what %q: want pages, paced or answers", *kind)
	}
	var err error
	if s.Contestants, err = installed(*others); err != nil {
		return err
	}
	if s.Self, err = os.Executable(); err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	_, err = command.Report(ctx, &s.Binary, func() (fmt.Stringer, error) { return measure(ctx, s) })
	return err
}

// installed returns those of the named proxies that this machine has, and says
// which it has not.
func installed(names string) (have []load.Contestant, err error) {
	for name := range strings.SplitSeq(names, ",") {
		if name == "" {
			continue
		}
		all := load.Contestants()
		i := slices.IndexFunc(all, func(c load.Contestant) bool { return c.Program == name })
		if i < 0 {
			return nil, fmt.Errorf("others %q: want nginx, haproxy or caddy", name)
		}
		if _, err := exec.LookPath(name); err != nil {
			fmt.Fprintf(os.Stderr, "load: %s is not installed, and left out\n", name)
			continue
		}
		have = append(have, all[i])
	}
	return have, nil
}
