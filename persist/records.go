package persist

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"
)

const (
	recordsVersion = 1
	maxRecords     = 64 << 20 // bytes
	// recordsBatch is how long a record may wait for others.
	recordsBatch = 100 * time.Millisecond
	// recordsLeast is the length in bytes at which a file is worth being
	// written anew.
	recordsLeast = 1 << 20
)

// RecordsConfig says what a file of records holds.
type RecordsConfig struct {
	Name string // of the file
	// Read is given the JSON of each record of the file, oldest first. An
	// error makes it a damaged one.
	Read func(text []byte) error
	// All calls emit with everything worth keeping, oldest first. It must show
	// what was added before it was added.
	All func(emit func(v any))
}

// Records is a file that grows by a line for each record, in the form of all
// journals, and is written anew when it has become long: then only what is
// still worth keeping stays. A record supersedes earlier ones of the same
// thing, as their reader sees fit.
type Records struct {
	dir  *Dir
	c    RecordsConfig
	wake chan struct{} // has room for one

	mu       sync.Mutex // guards the fields below
	pending  []any
	overflow bool // pending is not all that is missing on disk

	writing sync.Mutex // guards the fields below, and is taken before mu
	journal appendFile
	rewrite bool   // the file has to be written before it grows
	damaged []byte // a file that has to be set aside before that
	least   int64  // the length at which the file is written anew
}

// Records opens a file and reads it. Lines that cannot be read have no effect,
// and warning says so: the file is kept as it was under another name. The error
// names a file that a newer Concert wrote, or that cannot be read at all.
func (d *Dir) Records(c RecordsConfig) (r *Records, warning string, err error) {
	r = &Records{dir: d, c: c, wake: make(chan struct{}, 1), rewrite: true, least: recordsLeast}
	r.journal = appendFile{dir: d, name: c.Name}
	path := d.file(c.Name)
	text, ok, err := d.readFile(c.Name, maxRecords)
	if err != nil {
		return nil, "", fmt.Errorf("read %s: %w", path, err)
	}
	if !ok {
		return r, "", nil
	}
	bad, err := readRecords(text, c.Read)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w: move it away to start without it", path, err)
	}
	if bad > 0 {
		r.damaged = text
		warning = fmt.Sprintf("%s: %d lines at its end or in it are damaged and have no effect; kept as %s", path, bad, badName(c.Name))
	}
	return r, warning, nil
}

// readRecords reads the file's text and counts the lines that cannot be read.
// The error tells of a newer version.
func readRecords(text []byte, read func([]byte) error) (bad int, err error) {
	head, rest, ok := cutLine(text)
	var h journalHeader
	if !ok || json.Unmarshal(head, &h) != nil || h.Version == 0 {
		bad++ // what it holds is not vouched for, and yet each line is
	} else if err := checkVersion(h.Version, recordsVersion); err != nil {
		return 0, err
	}
	for len(rest) > 0 {
		var one []byte
		if one, rest, ok = cutLine(rest); !ok || read(one) != nil {
			bad++
		}
	}
	return bad, nil
}

// Add takes down a record. It does not wait for the disk.
func (r *Records) Add(v any) {
	if r.dir.path == "" {
		return
	}
	r.mu.Lock()
	if len(r.pending) < pendingMost {
		r.pending = append(r.pending, v)
	} else {
		r.overflow = true
	}
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default: // Run has yet to look
	}
}

// Run writes what is added until ctx ends, and once more then. The error is
// that of the last write: what it could not save is lost with the process.
func (r *Records) Run(ctx context.Context) error {
	return writeBehind(ctx, r.wake, recordsBatch, nil, r.Sync, r.Sync)
}

// Sync writes what was added. When it returns nil, all that was added before
// the call is on disk.
func (r *Records) Sync() error {
	if r.dir.path == "" {
		return nil
	}
	r.writing.Lock()
	defer r.writing.Unlock()
	r.mu.Lock()
	added, overflow := r.pending, r.overflow
	r.pending, r.overflow = nil, false
	r.mu.Unlock()
	if len(added) == 0 && !overflow && r.damaged == nil {
		return nil
	}
	err := r.write(added, overflow)
	if err != nil {
		r.mu.Lock()
		r.pending, r.overflow = append(added, r.pending...), r.overflow || overflow
		if len(r.pending) > pendingMost {
			r.pending, r.overflow = r.pending[:pendingMost], true
		}
		r.mu.Unlock()
	}
	r.dir.health.note(r.c.Name, err)
	return err
}

func (r *Records) write(added []any, overflow bool) error {
	if !r.rewrite && !overflow && !r.journal.unsure && r.journal.size < r.least && !r.journal.lost() {
		text, err := appendLines(slices.Values(added))
		if err != nil {
			return err
		}
		err = r.journal.append(text)
		if err == nil || !r.journal.unsure && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return r.writeAll()
}

// writeAll writes the file anew.
func (r *Records) writeAll() error {
	if r.damaged != nil {
		if err := r.dir.keepBad(r.c.Name, r.damaged); err != nil {
			return err
		}
		r.damaged = nil
	}
	var size counter
	err := r.dir.replace(r.c.Name, func(w io.Writer) error {
		size = 0
		w = io.MultiWriter(w, &size)
		text, err := appendLine(nil, journalHeader{recordsVersion})
		r.c.All(func(v any) {
			if err == nil && len(text) > 1<<15 {
				_, err = w.Write(text)
				text = text[:0]
			}
			if err == nil {
				text, err = appendLine(text, v)
			}
		})
		if err == nil {
			_, err = w.Write(text)
		}
		return err
	})
	if err != nil {
		return err
	}
	r.rewrite, r.least = false, max(recordsLeast, 2*int64(size))
	return r.journal.close()
}
