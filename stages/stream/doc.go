// Package stream bounds how many WebSocket and server-sent event connections
// are open at once.
//
// # Usage
//
//	s, err := stream.New(stream.Config{Cap: 1000})
//
// A stream stays open for hours, so it is served outside the line, where it
// would keep a page slot, and takes a slot of this stage for all its life. There
// is no waiting: when all slots are taken the client is told to come back, each
// one at its own second between [MinRetry] and [MaxRetry], since a stream that
// broke for one client usually broke for all of them in the same moment.
//
// # Concurrency and limits
//
// A Stage is safe for concurrent use and starts no goroutine. It lives as long
// as the process: Apply changes the cap in place, and open streams count
// against the new one. The cap is for all clients together; one pass may hold
// several streams.
package stream
