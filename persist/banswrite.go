package persist

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"os"
	"time"
)

// write brings the files up to date. Folding a long journal in can wait when
// somebody waits for the answer.
func (b *Bans) write(fold bool) error {
	if b.dir.path == "" {
		return nil
	}
	b.writing.Lock()
	defer b.writing.Unlock()
	b.mu.Lock()
	changes, overflow, all := b.pending, b.overflow, b.all
	b.pending, b.overflow = make(map[netip.Prefix]journalLine), false
	b.mu.Unlock()

	long := fold && b.journal.size > max(journalLeast, b.saved)
	var err error
	switch {
	case all != nil && (b.rewrite || overflow || b.journal.unsure || long || b.journal.lost()):
		err = b.writeAll(all)
	case b.rewrite:
		err = errors.New("BUG: bans are written before Follow")
	case len(changes) > 0:
		err = b.appendAll(changes)
		if err != nil && all != nil && (b.rewrite || b.journal.unsure) {
			err = b.writeAll(all)
		}
	}
	if err != nil {
		b.putBack(changes, overflow)
	}
	b.dir.health.note(BansName, err)
	return err
}

// putBack restores what could not be written; what was recorded since is newer.
func (b *Bans) putBack(changes map[netip.Prefix]journalLine, overflow bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.Copy(changes, b.pending)
	b.pending, b.overflow = changes, b.overflow || overflow
}

// appendAll adds the changes to the journal.
func (b *Bans) appendAll(changes map[netip.Prefix]journalLine) error {
	text, err := appendLines(maps.Values(changes))
	if err != nil {
		return err
	}
	err = b.journal.append(text)
	if errors.Is(err, os.ErrNotExist) {
		b.rewrite = true // somebody removed it, and it would lack its first line
	}
	return err
}

// writeAll writes bans.json anew and begins a new journal. If it ends between
// the two, the old journal is read over the new file, which changes nothing:
// each line is what became of a client, and all of them are in the file.
func (b *Bans) writeAll(all func(time.Time) []Ban) error {
	if err := b.keepDamaged(); err != nil {
		return err
	}
	now := time.Now()
	bans := all(now)
	var size counter
	err := b.dir.replace(BansName, func(w io.Writer) error {
		size = 0
		return writeBans(io.MultiWriter(w, &size), bans, b.aside, now)
	})
	if err != nil {
		return err
	}
	b.saved = int64(size)
	if err := b.journal.close(); err != nil {
		return err
	}
	b.rewrite = true // until there is a journal to go with the file
	if err := b.dir.replace(bansJournalName, writeJournal); err != nil {
		return err
	}
	b.rewrite = false
	return nil
}

// keepDamaged sets a damaged journal aside before its name is used again. An
// earlier one of the kind is not overwritten.
func (b *Bans) keepDamaged() error {
	if b.damaged == nil {
		return nil
	}
	err := b.dir.keepBad(bansJournalName, b.damaged)
	if err == nil {
		b.damaged = nil
	}
	return err
}

// keepBad writes a damaged file's text beside it.
func (d *Dir) keepBad(of string, text []byte) error {
	name := badName(of)
	for n := 2; ; n++ {
		if _, err := os.Lstat(d.file(name)); errors.Is(err, os.ErrNotExist) {
			break
		}
		name = fmt.Sprintf("%s.%d", badName(of), n)
	}
	return d.replace(name, func(w io.Writer) error {
		_, err := io.Copy(w, bytes.NewReader(text))
		return err
	})
}

// counter counts the bytes that are written to it.
type counter int64

// Write counts.
func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
