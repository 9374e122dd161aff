// Package crowd plays visitors of a site that has a waiting room.
//
// A [Visitor] knows the site only from outside, as a browser does: it keeps
// cookies, asks for a page, and while it is shown the waiting room it polls
// /queue/status and reloads when told that its turn has come. The demo sends
// such visitors in waves; the drain bench sends them by the thousand.
//
//	v := crowd.Visitor{Page: "http://127.0.0.1:8080/"}
//	result := v.Visit(ctx)
//
// The origin marks its own pages with the header [SeqHeader]; that is how a
// visitor tells them from the waiting room, and how the order of admission is
// known to whoever evaluates the results.
//
// A Visitor is used once, by one goroutine. [Send] starts many.
package crowd
