// Package soak keeps a site busy for minutes and looks for what only shows with
// time: memory that grows, slots that are lost, goroutines that stay.
//
//	report, err := soak.Run(ctx, soak.Settings{For: 10 * time.Minute, Cap: 10, Latency: 50 * time.Millisecond, Binary: binary})
//	fmt.Print(report)
//	broken := report.Broken()
//
// Crowds come in waves of twice what the origin can serve, a fifth leaves at the
// sight of the line, and each wave is drained. Meanwhile an operator changes the
// cap again and again, forms are uploaded, and strangers forge passes, send
// nonsense and hang up halfway. Between the waves Concert's own endpoints are
// asked what it holds; garbage is collected before memory is read.
//
// Whatever the machine's speed: never more pages at the origin than the highest
// cap, no visitor lost, no panic, everything given back at the end, and no more
// memory and goroutines in the last third of the run than in the middle one
// (the first is for warming up).
package soak
