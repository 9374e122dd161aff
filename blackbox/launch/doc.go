// Package launch builds the Concert binary and runs it as a process of its own,
// for suites that look at it from outside.
//
//	binary, err := launch.Build(ctx, dir)
//	p, err := launch.Start(ctx, launch.Options{Binary: binary, Args: []string{"-cap", "5"}})
//	defer p.Kill()
//	…requests to p.URL…
//	err = p.Stop(ctx)
//
// Concert listens on a free loopback port unless the arguments say otherwise;
// where, is read from its own "listening" line. A Process is safe for
// concurrent use. Its output is kept in memory, so it is not for runs of hours.
package launch
