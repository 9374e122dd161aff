package persist

import "sync/atomic"

// roomFiles is a pattern for the files of all inline rooms.
const roomFiles = "queue.*.*"

// LineFiles are the snapshot and the journal of one line, in a data directory.
type LineFiles struct {
	dir               *Dir
	snapshot, journal string // names

	sync chan chan struct{} // to KeepLine, which closes what it gets
	kept atomic.Bool        // one runs
}

// Room returns the files of an inline room's line, queue.ID.snapshot and
// queue.ID.journal; of the default room's for "", which are also the Dir's own.
// There must be no more than one for each room.
func (d *Dir) Room(id string) *LineFiles {
	l := &LineFiles{dir: d, snapshot: lineName, journal: lineJournalName, sync: make(chan chan struct{})}
	if id != "" {
		l.snapshot, l.journal = "queue."+id+".snapshot", "queue."+id+".journal"
	}
	return l
}
