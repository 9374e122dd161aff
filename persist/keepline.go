package persist

import (
	"context"
	"errors"
	"fmt"
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
	k.run(ctx, batches)
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
