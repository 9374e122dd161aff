package persist

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/andreimerlescu/concert/line"
)

// LoadLine reads the snapshot, and after a crash the journal over it. Where
// there is none, the saved line is empty and not clean. On an error it is so,
// too, and the file was set aside as queue.snapshot.bad: Concert can start, and
// signed tickets bring back those who come again. A damaged journal is set
// aside, too, and told of in the log.
func (l *LineFiles) LoadLine() (SavedLine, error) {
	d := l.dir
	text, ok, err := d.readFile(l.snapshot, maxLine)
	if err == nil && !ok {
		return SavedLine{}, nil
	}
	if err == nil {
		var s SavedLine
		if s, err = ReadLine(text); err == nil {
			l.followJournal(&s)
			return s, nil
		}
	}
	path := d.file(l.snapshot)
	err = fmt.Errorf("%s: %w: kept as %s", path, err, badName(l.snapshot))
	if ready := d.ready(); ready != nil {
		return SavedLine{}, errors.Join(err, ready)
	}
	return SavedLine{}, errors.Join(err, os.Rename(path, badName(path)))
}

// BeginLine marks queue.snapshot as the line of a running process, so that
// after a crash nobody takes it for complete. Call it between restoring the
// line and the first visitor; KeepLine goes on from there.
//
// When the file cannot be written it is removed instead, which even a full
// disk allows. The error says that neither was possible: after a crash, those
// who came since would lose their places.
func (l *LineFiles) BeginLine(s line.Snapshot) error {
	err := l.SaveLine(SavedLine{Snapshot: s})
	if err == nil || l.dir.ready() != nil {
		return err
	}
	if removed := os.Remove(l.dir.file(l.snapshot)); removed != nil && !errors.Is(removed, os.ErrNotExist) {
		return errors.Join(err, removed)
	}
	return nil
}

const (
	// lineShare bounds the share of the time that saving the line takes.
	lineShare = 50
	// lineBatch is how long a change of the line may wait for others.
	lineBatch = 100 * time.Millisecond
)

// LineSource is the line that KeepLine saves.
type LineSource struct {
	// Take copies it.
	Take func() (line.Snapshot, error)
	// Changes returns the changes since the last call, as line.Journaled does;
	// nil for a line that tells of none.
	Changes func(into []line.Change) []line.Change
}

// KeepLine saves the line at once, and then every so often until ctx ends: no
// sooner than every after the last time, and later when saving takes long. A
// line that stays empty is not saved again. What fails is tried again the next
// time.
//
// In between, changes are on disk a tenth of a second after they happen.
func (l *LineFiles) KeepLine(ctx context.Context, every time.Duration, from LineSource) {
	d := l.dir
	if d.path == "" {
		return
	}
	k := &lineKeeper{dir: d, files: l, from: from, every: every, due: time.After(0), saved: make(chan lineSave, 1)}
	k.journal = appendFile{dir: d, name: l.journal}
	defer k.journal.close()
	l.kept.Store(true)
	defer l.kept.Store(false)
	var batches <-chan time.Time
	if from.Changes != nil {
		t := time.NewTicker(lineBatch)
		defer t.Stop()
		batches = t.C
	}
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
		case done := <-l.sync:
			k.flush()
			close(done)
		case done := <-k.saved:
			k.finish(done)
		case <-due:
			k.save()
		}
	}
}

// lineSyncTime bounds how long SyncLine waits.
const lineSyncTime = 5 * time.Second

// SyncLine returns once the changes of the line so far are on disk, or cannot
// be, which is a fault like any other. It does nothing while no KeepLine runs.
func (l *LineFiles) SyncLine() {
	if !l.kept.Load() {
		return
	}
	limit := time.NewTimer(lineSyncTime)
	defer limit.Stop()
	done := make(chan struct{})
	select {
	case l.sync <- done:
		<-done
	case <-limit.C: // KeepLine has ended meanwhile, or its disk is very slow
	}
}

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
	if k.from.Changes == nil {
		return
	}
	k.changes = k.from.Changes(k.changes[:0])
	if len(k.changes) == 0 {
		return
	}
	gap := k.last > 0 && k.changes[0].Sequence != k.last+1
	k.last = k.changes[len(k.changes)-1].Sequence
	var text []byte
	for i := range k.changes {
		text = appendChange(text, &k.changes[i])
	}
	if k.saving {
		k.tail, k.gap = append(k.tail, text...), k.gap || gap
	}
	if !k.known {
		return
	}
	var err error
	switch {
	case gap:
		err = errors.New("more changed than can be kept")
	case k.journal.lost():
		err = errors.New("somebody removed it")
	default:
		err = k.journal.append(text)
	}
	if err == nil {
		return
	}
	k.known = false
	if !gap {
		k.dir.health.note(k.files.snapshot, fmt.Errorf("save %s: %w", k.dir.file(k.files.journal), err))
	}
	if !k.saving {
		k.due = time.After(min(k.every, time.Second))
	}
}
