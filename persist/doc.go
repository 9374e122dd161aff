// Package persist keeps what outlives the process in one directory: changed
// settings, bans, the line, and who changed what.
//
//	dir, err := persist.Open(path, persist.Options{Log: log})
//	defer dir.Close()
//	settings, err := dir.Settings()          // settings.json
//	bans, saved, odd, err := dir.Bans()      // bans.json, bans.journal
//	saved, err := dir.LoadLine()             // queue.snapshot, queue.journal
//	grants, warning, err := dir.Records(…)   // grants.journal, sales.journal
//	err = dir.Audit(persist.Act{...})        // audit.jsonl
//	ok, err := dir.LoadRooms(&rooms)         // rooms.json
//	ok, err = dir.LoadRoomState(&lines)      // rooms.state
//
// docs/files.md describes the files for operators.
//
// # What holds
//
// A file is replaced whole or not at all: written beside the old one, synced,
// renamed over it, and the directory synced. Journals grow at the end by
// checksummed lines; a torn last line is what a crash leaves, and is dropped.
// So whatever the moment of a crash, every file is readable and holds the last
// state that was acknowledged.
//
// A damaged file is never taken for an empty one, and never overwritten: a
// damaged settings.json, bans.json or rooms.json is an error that should stop the
// start, a damaged queue.snapshot or rooms.state is set aside with .bad after
// its name. A single entry of bans.json that cannot be read is reported and
// carried along.
//
// # When the disk fails
//
// A write that fails changes nothing on disk and is reported three ways: to
// the caller, in the log once, and by [Dir.Faults] for as long as it lasts.
// The program goes on. What happens by itself (automatic bans, changes of the
// line) is tried again by Run and KeepLine; what an operator asked for is
// refused, for them to try again. A directory that cannot be made or locked at
// the start is such a fault, too, and tried again at every write.
//
// With the path "" everything stays in memory and every write succeeds.
//
// # Who may write
//
// One process holds the lock; [ErrInUse] refuses a second one. The lock is the
// kernel's and ends with the process, whatever its end.
//
// # Concurrency
//
// All methods are safe for concurrent use.
package persist
