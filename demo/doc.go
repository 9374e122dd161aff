// Package demo shows Concert working, with nothing else installed.
//
// It starts an origin that behaves like a small PHP pool (package site), lets
// the caller start Concert in front of it with a small cap, and sends visitors
// in waves (package crowd). A new wave comes whenever the line has become
// short, so that whoever opens the printed address lands in the waiting room,
// and is admitted some seconds later. One line a second tells what happens.
//
//	options, err := demo.Parse(args, os.Stderr)
//	err = demo.Run(ctx, os.Stdout, options, start)
//
// Everything listens on loopback unless -listen says otherwise, and nothing is
// written to disk. [Run] ends every goroutine it started before it returns.
package demo
