// Package site is a small web site that behaves like a PHP pool: the origin of
// the demo and of the drain bench.
//
// A page needs one of a fixed number of workers for as long as the latency
// says. When all are busy it waits in a backlog, as in a web server's socket
// queue; when the backlog is full the answer is 502, and who waited in it for
// too long gets 504. Stylesheet, script and images are served without a worker.
//
//	s := site.New(site.Options{Workers: 5, Backlog: 20, Latency: 400 * time.Millisecond})
//	http.Serve(listener, s)
//
// Pages carry crowd.SeqHeader, so that the order in which visitors came in is
// known. [Site.Stats] tells how many pages were present at once, which is what
// a proxy in front is there to bound.
//
// A Site is safe for concurrent use. It starts no goroutine of its own.
package site
