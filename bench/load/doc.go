// Package load measures what Concert's answers cost beside others'.
//
//	s := load.Settings{Rounds: 10, Slice: 2 * time.Second, Connections: 64, Size: 1 << 10, …}
//	pages, err := load.Pages(ctx, s)     // proxying a page, as fast as it goes
//	paced, err := load.Paced(ctx, s)     // the time it adds to a page at a steady rate
//	answers, err := load.Answers(ctx, s) // the waiting page, a poll, a refusal
//	fmt.Print(pages)
//
// Concert runs as it is shipped, all guards included, beside a tuned
// httputil.ReverseProxy and the proxies that are installed; its own answers run
// beside those of a net/http server that never change. Every target is a
// process of its own, with the same origin and the same client. They take
// turns, one slice each per round, so that what else the machine does meets all
// alike. What counts is the processor time a target's process used per request,
// user and system together, read from its own clock; throughput is reported,
// but on a shared machine says little. A ratio is the median of the rounds'
// ratios.
//
// It needs Linux, uses loopback only and ends all it has started.
package load
