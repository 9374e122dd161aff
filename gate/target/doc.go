// Package target is an example of a site behind an off-site room: one page for
// every address, which says who the visitor is. concert target-demo runs it.
//
//	o, err := target.Parse(environ)
//	h, err := target.New(o)
//
// It is there to be read: what a real site needs is gate/protect and the lines
// of [New].
package target
