package demo

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"time"
)

// Options are what the demo's command line can change.
type Options struct {
	Listen   string        // where Concert listens; a busy port gives way to a free one
	Cap      int           // Concert's cap, and the origin's workers: 1 to 1,000
	Visitors int           // visitors per wave: 1 to 5,000
	Latency  time.Duration // what a page costs a worker: 1 ms to 1 minute
	Duration time.Duration // how long to run; 0 is until the context ends
}

// defaultOptions give a line of about five to fifteen seconds.
func defaultOptions() Options {
	return Options{Listen: "127.0.0.1:8080", Cap: 5, Visitors: 120, Latency: 400 * time.Millisecond}
}

// Parse reads the demo's flags. Usage and problems with the flags' form are
// written to w. The error is flag.ErrHelp when help was asked for, and
// otherwise names every value that is out of bounds.
func Parse(args []string, w io.Writer) (Options, error) {
	o := defaultOptions()
	fs := flag.NewFlagSet("concert demo", flag.ContinueOnError)
	fs.SetOutput(w)
	fs.StringVar(&o.Listen, "listen", o.Listen, "`address` to open in a browser; a free port is used when it is taken")
	fs.IntVar(&o.Cap, "cap", o.Cap, "`pages` let through to the origin at once, and the origin's workers")
	fs.IntVar(&o.Visitors, "visitors", o.Visitors, "simulated `visitors` per wave")
	fs.DurationVar(&o.Latency, "latency", o.Latency, "what a page costs the origin")
	fs.DurationVar(&o.Duration, "duration", o.Duration, "how long to run; 0 is until Ctrl-C")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if fs.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	return o, o.check()
}

func (o Options) check() error {
	var problems []error
	bounds := func(name string, value any, ok bool, accepted string) {
		if !ok {
			problems = append(problems, fmt.Errorf("-%s %v: want %s", name, value, accepted))
		}
	}
	bounds("cap", o.Cap, o.Cap >= 1 && o.Cap <= 1000, "1 to 1000")
	bounds("visitors", o.Visitors, o.Visitors >= 1 && o.Visitors <= 5000, "1 to 5000")
	bounds("latency", o.Latency, o.Latency >= time.Millisecond && o.Latency <= time.Minute, "1ms to 1m")
	bounds("duration", o.Duration, o.Duration >= 0, "0 or more")
	return errors.Join(problems...)
}
