package persist

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/andreimerlescu/concert/line"
)

// lineKeeper is the state of KeepLine, for its goroutine.
type lineKeeper struct {
	dir   *Dir
	files *LineFiles
	from  LineSource
	every time.Duration
	due   <-chan time.Time // the next snapshot

	saving bool          // a snapshot is being written
	saved  chan lineSave // gets what became of it; has room for it
	empty  bool          // the last one was, and is on disk

	journal appendFile
	known   bool   // the journal is on disk and whole up to last
	last    uint64 // the last change that was taken from the line
	// tail are the lines of the changes after the snapshot that is being
	// written; gap says that there was one among them.
	tail    []byte
	gap     bool
	changes []line.Change // as taken last
}

// lineSave is the outcome of writing a snapshot.
type lineSave struct {
	of    line.Snapshot // without its tickets
	empty bool
	took  time.Duration
	err   error
}

// run saves until ctx ends, and the rest then. batches tells when changes are to
// be put on disk.
func (k *lineKeeper) run(ctx context.Context, batches <-chan time.Time) {
	k.save()
	for {
		due := k.due
		if k.saving {
			due = nil
		}
		select {
		case <-ctx.Done():
			if k.saving {
				k.finish(<-k.saved)
			}
			k.flush()
			return
		case <-batches:
			k.flush()
		case done := <-k.files.sync:
			k.flush()
			close(done)
		case done := <-k.saved:
			k.finish(done)
		case <-due:
			k.save()
		}
	}
}

// save begins to write a snapshot.
func (k *lineKeeper) save() {
	began := time.Now()
	s, err := k.from.Take()
	if err != nil {
		k.dir.health.note(k.files.snapshot, fmt.Errorf("save %s: take the line: %w", k.dir.file(k.files.snapshot), err))
		k.due = time.After(k.every)
		return
	}
	k.flush() // up to the snapshot, and a little further
	empty := len(s.Tickets) == 0
	if k.empty && empty && k.dir.Faults() == nil && k.inOrder() {
		k.due = time.After(k.every)
		return
	}
	k.saving, k.tail, k.gap = true, k.tail[:0], false
	next := s.Sequence + 1
	for i := range k.changes { // those after the snapshot go into the next journal
		if c := &k.changes[i]; c.Sequence >= next {
			k.gap = k.gap || c.Sequence != next
			k.tail = appendChange(k.tail, c)
			next = c.Sequence + 1
		}
	}
	go func() { // ends when the snapshot is written; KeepLine waits for it
		err := k.files.SaveLine(SavedLine{Snapshot: s})
		s.Tickets = nil
		k.saved <- lineSave{s, empty, time.Since(began), err}
	}()
}

// lineJournalLong is the length in bytes at which the journal of an empty line
// is begun anew.
const lineJournalLong = 1 << 16

// inOrder reports whether the journal is as it should be.
func (k *lineKeeper) inOrder() bool {
	return k.from.Changes == nil || k.known && k.journal.size < lineJournalLong
}

// finish goes on after a snapshot was written.
func (k *lineKeeper) finish(done lineSave) {
	k.saving = false
	k.empty = done.err == nil && done.empty
	k.due = time.After(max(k.every, lineShare*done.took))
	if done.err == nil && k.from.Changes != nil {
		k.begin(done.of)
	}
	k.tail = k.tail[:0]
}

// begin starts the journal that goes with a snapshot.
func (k *lineKeeper) begin(s line.Snapshot) {
	k.known = false
	_ = k.journal.close() // it is replaced
	if k.gap {
		k.due = time.After(0)
		return
	}
	err := k.dir.replace(k.files.journal, func(w io.Writer) error {
		return writeLineJournal(w, lineJournalHead{lineVersion, s.Line, s.Sequence}, k.tail)
	})
	k.known = err == nil
}

// flush puts on disk what has changed. When something is missing, or cannot be
// written, the journal ends there, until the next snapshot.
func (k *lineKeeper) flush() {
	text, gap := k.takeChanges()
	if len(text) == 0 {
		return
	}
	if k.saving {
		k.tail, k.gap = append(k.tail, text...), k.gap || gap
	}
	if !k.known {
		return
	}
	if !gap {
		err := k.appendJournal(text)
		if err == nil {
			return
		}
		k.dir.health.note(k.files.snapshot, fmt.Errorf("save %s: %w", k.dir.file(k.files.journal), err))
	}
	k.known = false
	if !k.saving {
		k.due = time.After(min(k.every, time.Second))
	}
}

// takeChanges takes from the line what has changed, as the journal has it. gap
// says that more changed than can be kept: some is missing before it.
func (k *lineKeeper) takeChanges() (text []byte, gap bool) {
	if k.from.Changes == nil {
		return nil, false
	}
	k.changes = k.from.Changes(k.changes[:0])
	if len(k.changes) == 0 {
		return nil, false
	}
	gap = k.last > 0 && k.changes[0].Sequence != k.last+1
	k.last = k.changes[len(k.changes)-1].Sequence
	for i := range k.changes {
		text = appendChange(text, &k.changes[i])
	}
	return text, gap
}

func (k *lineKeeper) appendJournal(text []byte) error {
	if k.journal.lost() {
		return errors.New("somebody removed it")
	}
	return k.journal.append(text)
}
