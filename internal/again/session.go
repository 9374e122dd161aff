package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
)

const (
	// times is how often a test that has failed must pass alone.
	times = 2
	// most is how many failed tests are looked at again. More are no noise.
	most = 5
)

// session is one run of tests with its second look. It is for one goroutine.
type session struct {
	ctx       context.Context
	dir       string
	out, errs io.Writer
}

// test runs tests and returns the exit status.
func (s *session) test(args []string) int {
	first := newReport(s.out)
	status := s.goTest(first, args...)
	if status == 0 || s.ctx.Err() != nil {
		return status
	}
	failures := first.failures()
	if problem := s.judge(failures); problem != "" {
		fmt.Fprintf(s.out, "=== no second look: %s\n", problem)
		return status
	}
	flags := args[:slices.IndexFunc(args, isPackage)]
	for _, o := range failures {
		if !s.passesAlone(o, flags) {
			return status
		}
	}
	for _, o := range failures {
		for _, test := range o.failed() {
			fmt.Fprintf(s.out, "=== UNSTABLE: %s (%s) failed once and passed twice alone; the failure was:\n%s", test, o.name, o.text(test))
		}
	}
	return 0
}

// judge says why the failures are final, or "" if they deserve a second look.
func (s *session) judge(failures []*outcome) string {
	if len(failures) == 0 {
		return "no test failed, the run did"
	}
	n := 0
	for _, o := range failures {
		if why := s.final(o); why != "" {
			return o.name + ": " + why
		}
		n += len(o.failed())
	}
	if n > most {
		return fmt.Sprintf("%d failed tests are more than noise makes", n)
	}
	return ""
}

// passesAlone runs the failed tests of a package with nothing beside them.
func (s *session) passesAlone(o *outcome, flags []string) bool {
	tests := o.failed()
	fmt.Fprintf(s.out, "=== a second look, alone: %s in %s\n", strings.Join(tests, ", "), o.name)
	second := newReport(s.out)
	args := append(slices.Clone(flags), "-p", "1", "-parallel", "1", "-count", fmt.Sprint(times),
		"-run", "^("+strings.Join(tests, "|")+")$", o.name)
	if s.goTest(second, args...) != 0 {
		return false
	}
	again := second.packages[o.name]
	return again != nil && !slices.ContainsFunc(tests, func(test string) bool { return again.count[test] != times })
}

// goTest runs go test, which reports to r, and returns its exit status.
func (s *session) goTest(r *report, args ...string) int {
	return command(s.ctx, s.dir, append([]string{"test", "-json"}, args...), r, s.errs)
}

func isPackage(arg string) bool { return strings.HasPrefix(arg, ".") }
