// Package leaving is the stage that a process has for the time in which another
// one takes over.
//
//	s, err := leaving.New(leaving.Config{Linger: time.Second})
//	server.Handler = s.Closing(pipeline)
//	s.Leave(true)         // another process takes over; false if it did not
//	s.Linger(ctx)         // before connections are closed
//
// New connections are the other process's already. On those that are open here
// a page request would meet a line in which nobody moves, so the client is sent
// to the same address again, over a connection of its own.
//
// # Concurrency and limits
//
// A Stage is safe for concurrent use and starts no goroutine. While the process
// stays, a page costs it one atomic load. A request whose body is longer than
// 256 KiB, or of unknown length, cannot be sent again and goes on to the line.
package leaving
