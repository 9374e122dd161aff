// Package rawtest is both ends of a proxy test at the level of bytes: an
// origin that logs exactly what it was sent and answers exactly what it is
// told, and a client that does the same. HTTP libraries tidy away what such
// tests are about.
//
//	origin := rawtest.NewOrigin(t, rawtest.Reply("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
//	…start a proxy in front of origin.Addr()…
//	c := rawtest.Dial(t, proxyAddr)
//	c.Send("GET //a%2Fb?x=1;y HTTP/1.1\r\nHost: site.example\r\n\r\n")
//	response := c.ReadResponse("GET")
//	line := origin.Requests()[0].Line
//
// A script of one's own is a func(*Exchange): it may read the body or not,
// write pieces, wait on a channel of the test, half-close, or reset.
//
// # Concurrency and limits
//
// An Origin serves each connection on its own goroutine, so a script runs
// concurrently with itself. A Client belongs to one goroutine. Everything is
// closed, and every goroutine awaited, when the test ends. Any read that takes
// longer than [Patience] fails the test instead of hanging it.
package rawtest
