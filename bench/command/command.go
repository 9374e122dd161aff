package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/andreimerlescu/concert/blackbox/launch"
)

// ErrNotHeld is what run returns when it has measured and reported, and what it
// measured is not as it must be.
var ErrNotHeld = errors.New("not all is as it must be: see the report")

// Main runs a program until it is done or interrupted, and ends the process:
// with status 1 and the error on standard error if there is one. A question for
// help is none.
func Main(name string, run func(ctx context.Context, args []string) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

// Concert returns the binary that was given; "" builds one, which remove takes
// away again.
func Concert(ctx context.Context, given string) (binary string, remove func(), err error) {
	if given != "" {
		return given, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "concert")
	if err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) }
	if binary, err = launch.Build(ctx, dir); err != nil {
		remove()
		return "", nil, err
	}
	return binary, remove, nil
}

// Parse reads the flags; there are no arguments beside them.
func Parse(flags *flag.FlagSet, args []string) error {
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	return nil
}

// Report measures a Concert and prints what was found. The binary is the one
// that was given, or else is there for as long as measure runs.
func Report[R fmt.Stringer](ctx context.Context, binary *string, measure func() (R, error)) (report R, err error) {
	built, remove, err := Concert(ctx, *binary)
	if err != nil {
		return report, err
	}
	defer remove()
	*binary = built
	if report, err = measure(); err != nil {
		return report, err
	}
	_, err = fmt.Print(report)
	return report, err
}
