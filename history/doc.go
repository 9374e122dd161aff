// Package history remembers who asked for what, and who was banned for it: what
// the access log never shows, because banned clients are refused before it.
//
// # Usage
//
//	h, err := history.New(history.Options{File: "history.jsonl", Settings: history.Settings{On: true, Query: true}})
//	go h.Run(ctx)                     // replays the files, then writes them
//	pipeline.Config{Observers: …h…}   // every finished visit
//	h.Banned(history.Ban{…})          // every ban that begins or changes
//	h.Lifted(target, at, "operator")
//	view, ok := h.Client(key, time.Now())
//
// # What is kept
//
// Every request the access log has, every request of a banned client, the
// request that started a ban, and every answer of 400 or more. Left out are
// successful requests for assets and what machines ask all the time. The last
// [EntriesPerClient] requests of [MaxClients] clients are kept for [Keep] after
// a client's last one, and each ban for [Keep] after its end. A client is an
// IPv4 address or an IPv6 /64, as for bans (see package clientip).
//
// When the table is full, the idlest client that was never banned makes room.
// Clients that were banned may fill three quarters of it, so an attack cannot
// push everybody else out.
//
// # The file
//
// With a file each record is also one line of JSON: see event.go for the kinds.
// One goroutine, Run, writes them once a second; a visit hands its record over
// a bounded queue and never waits. What does not fit is dropped and counted,
// but never a blocked request: those are added to the ban's aggregate, as are
// all of a client's beyond the first [SingleLines] during one ban. So a flood
// costs a line a second, and the totals of a ban are exact. At [MaxFileBytes]
// the file is rotated; the state of the bans is carried into the new one, so
// nothing is forgotten when the oldest is deleted.
//
// On start the files are read again while the server runs already. Lines that
// are torn, foreign or too long are counted and cost no other line.
//
// # Which request started a ban
//
// No guessing: a ban that begins inside [History.Cause] belongs to its visit,
// and one that begins at the very moment a refused visit came (a ban path)
// belongs to that one.
//
// # Concurrency and limits
//
// All methods may be called at any time. One lock guards everything in memory;
// recording holds it for a few hundred nanoseconds and allocates nothing beyond
// the record. Strings of strangers are cut: methods to 16 bytes, paths to 256,
// user agents to 200 (four per client). The worst case, when every one of them
// is of full length and different, is about 200 MB; a usual full table takes a
// quarter of that.
package history
