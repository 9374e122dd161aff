// Command again is the go command, save that it gives tests that fail on a
// noisy machine a second look:
//
//	go build -o again ./internal/again && make test GO="$PWD/again"
//
// "again test FLAGS PACKAGES" runs "go test -json FLAGS PACKAGES" and prints what
// go test prints without -v. When tests have failed, these and no others run
// again, one at a time, and have to pass twice. Then it says so plainly, with
// what the first failure printed, and ends with status 0:
//
//	=== UNSTABLE: TestX (example.org/pkg) failed once and passed twice alone
//
// There is no second look at what noise cannot do; see verdict.go. Packages begin
// with "." and stand after the flags. Everything else than "test" is handed to go
// as it is. docs/decisions/017-second-look.md says why.
package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	status := run(ctx, ".", os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// run does what the arguments say in a folder, and returns the exit status.
func run(ctx context.Context, dir string, args []string, out, errs io.Writer) int {
	if len(args) > 0 && args[0] == "test" {
		s := session{ctx: ctx, dir: dir, out: out, errs: errs}
		return s.test(args[1:])
	}
	return command(ctx, dir, args, out, errs)
}

// command runs go. What it starts is interrupted when ctx ends, and killed when
// that does not end it.
func command(ctx context.Context, dir string, args []string, out, errs io.Writer) int {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, os.Stdin, out, errs
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit) && exit.ExitCode() > 0:
		return exit.ExitCode()
	}
	_, _ = io.WriteString(errs, "again: run go: "+err.Error()+"\n")
	return 1
}
