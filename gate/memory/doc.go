// Package memory keeps off-site rooms in one process: in memory, and saved in
// its data directory.
//
//	s, err := memory.New(memory.Options{Dir: dir, Start: time.Now()})
//	go s.Run(ctx)
//
// # What is saved
//
// rooms.json holds what operators decided: rooms, messages, audit. It is
// written before an operator's request is answered. rooms.state holds counters
// and tickets; it is written about once a second while something changes, and
// at a clean stop.
//
// # After a crash
//
// The line goes on from the last save, a second ago or so. The time until the
// restart earns no admissions. Whoever joined after the save holds a ticket of
// a run that is over and is told that it is gone; waiting pages then join again
// by themselves. Token ids spent after the save are forgotten.
//
// # Concurrency and cost
//
// A Store is safe for concurrent use. Joining, polling and exchanging are
// O(1) and hold one mutex for less than a microsecond; with a cap, O(log n) in
// those on the site. A ticket takes 20 bytes until it has ended and everybody
// before it has, too.
package memory
