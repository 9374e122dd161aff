// Package memory is the waiting line of one process, kept in its memory.
//
//	l := memory.New(memory.Options{Settings: s, Start: time.Now()})
//	go line.Drive(ctx, l)
//	d, err := l.Enter(ctx, time.Now(), line.Entry{Client: key, MayHold: true})
//
// # Properties
//
// The line is a state machine behind one mutex: methods take the time, decide
// and return, and the package starts no goroutine and reads no clock. Times
// that run backwards, as times taken before the lock do, count as the latest
// time seen. The error results are always nil, save those of the operator's
// verbs.
//
// Admitting and releasing allocate nothing, and neither does a poll. A waiting
// ticket costs well under 256 bytes. A poll costs O(log n) in the tickets.
//
// # How order is kept
//
// Tickets lie in line order in chunks of up to 256, under a Fenwick tree of
// how many tickets of each class a chunk holds (order.go). So a position, the
// weight of everybody ahead, the first at the door and the n-th ticket are
// each one walk of the tree. Classes say what a ticket means to those behind:
//
//	class    counts as ahead   has a claim   who
//	absent   no                no            silent for too long, or called and not come
//	fresh    by share          no            issued or restored, not seen since
//	polled   yes               yes           present, away until its next poll
//	called   yes               yes           told to come, for as long as a reload takes
//	passed   yes               no            late, or did not use the slot kept for it
//	door     yes               it is there   a request stands at the door
//	guest    yes               it is there   the same, of an entry without a place
//	awaited  yes               yes           was there before a restart, not seen since
//
// A ticket's number says where it stands, save for promotions and ranks. With
// Settings.RankLead a rank joins where its number, less the head start, belongs
// (find.go). Numbers grow with arrivals, so the head start wears off by itself:
// who stands in line is overtaken by those of a higher rank among the next few
// arrivals, and by nobody after that.
//
// # The door rule
//
// A ticket's turn is expected after (weight ahead - free slots + 1) / rate,
// where rate is cap / service time (Little's law, meter.go). A visitor is
// called when that is sooner than the next poll, with a margin, and a newcomer
// is kept at the door when it is that soon or within Settings.DoorWait
// (turn.go). When the next poll is to be expected is learned from how the
// visitor and the crowd have polled. When slots are free and nobody is at hand
// to use them, whoever asks is called.
//
// Only those are called whose rank the door has room for. So a door that holds
// fewer than are let in between two polls leaves slots idle, which newcomers
// then take: DoorMax should be at least a second's admissions, better three.
//
// At the door, requests stand in line order. A free slot goes to the first of
// them unless somebody ahead has a claim and is away; then the slot is kept,
// but no longer than two reloads, or a service time as far as the door has
// patience. Then those ahead are passed over, which costs them the claim and
// not the place, until they are seen again (door.go). Somebody who was called
// and asks again instead of coming does not get it back.
//
// # After a restart
//
// Whoever was there before is awaited for the time they were given to ask
// again, and not passed over: who asks first is not let in first. It ends for
// each with their own first sight, so the line starts to move as soon as its
// head is back. Nobody is awaited after a downtime of more than 30 seconds.
// Tickets that were not saved come back with their owners (returns.go).
//
// With Options.Record a line tells of every change (journal.go), so that
// besides a snapshot all that came after it can be saved as it happens.
//
// # Standing still
//
// While anybody is in line, Advance asks to be called every second. When neither
// it nor any other method is called for a second more, the process or its machine
// has stood still (a debugger, a virtual machine that is moved). Nobody could ask
// meanwhile, so that time does not pass for the line. Neither does the time from
// Restore to the first visitor or Advance, in which a process begins to listen.
//
// # Limits
//
// A dead ticket counts in positions until the sweep that removes it. MaxWaiting
// may be exceeded by those who stand at the door, DoorMax at most. A newcomer
// may take a free slot ahead of tickets that were never seen again: whoever
// takes places and leaves must not hold up the line.
package memory
