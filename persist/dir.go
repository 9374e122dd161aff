package persist

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// The names of the files.
const (
	settingsName    = "settings.json"
	auditName       = "audit.jsonl"
	BansName        = "bans.json"
	bansJournalName = "bans.journal"
	lineName        = "queue.snapshot"
	sessionsName    = "sessions.json"
	lineJournalName = "queue.journal"
	GrantsName      = "grants.journal"
	SalesName       = "sales.journal"
	RoomsName       = "rooms.json"
	RoomStateName   = "rooms.state"
	lockName        = "lock"
)

const (
	dirMode  fs.FileMode = 0o700
	fileMode fs.FileMode = 0o600
)

// ErrInUse is the error of a directory that another process holds.
var ErrInUse = errors.New("another Concert uses it")

// errClosed is the error of a write after Close.
var errClosed = errors.New("the directory was closed")

// Options are what Open needs beside the path.
type Options struct {
	// Log gets a line when saving begins to fail and when it works again;
	// nil discards it.
	Log *slog.Logger
	// Lock is the open lock file of the process that this one takes over
	// from (see [Dir.Lock]); nil to take the lock. Dir closes it.
	Lock *os.File
}

// Dir is a data directory in use.
type Dir struct {
	path   string // "": everything stays in memory
	health health
	audit  audit

	*LineFiles // of the default room

	mu     sync.Mutex // guards the fields below
	lock   *os.File   // nil until it is held
	closed bool
}

// Open takes the directory into use, and makes it if it does not exist. With
// the path "" everything stays in memory.
//
// The error is ErrInUse, or says that the path is not a directory. A directory
// that cannot be made or locked otherwise is a fault; see Faults.
func Open(path string, o Options) (*Dir, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	d := &Dir{path: path, lock: o.Lock}
	d.LineFiles = d.Room("")
	d.health.log = o.Log
	if path == "" {
		return d, nil
	}
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		return nil, fmt.Errorf("data directory %s is not a directory: choose another with -data-dir", path)
	}
	if err == nil && open(info) {
		o.Log.Warn("other users of this machine can enter the data directory; chmod 700 it", "path", path, "mode", info.Mode().Perm())
	}
	d.mu.Lock()
	err = d.readyLocked()
	d.mu.Unlock()
	if errors.Is(err, ErrInUse) {
		return nil, err
	}
	if err != nil {
		err = fmt.Errorf("%w: choose another directory with -data-dir, or keep everything in memory with -data-dir \"\"", err)
	}
	d.health.note("directory", err)
	d.audit.load(d)
	return d, nil
}

// Path returns the path, "" for none.
func (d *Dir) Path() string { return d.path }

// Lock returns the open lock file, for a process that takes over: while either
// process has it open, the directory is locked. It is nil when there is none.
func (d *Dir) Lock() *os.File {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.lock
}

// Sign names this process as the one that has the directory, after it took
// over from another.
func (d *Dir) Sign() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lock != nil {
		sign(d.lock)
	}
}

// Close ends the use of the directory: nothing is written any more.
func (d *Dir) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	if d.lock == nil {
		return nil
	}
	err := d.lock.Close() // which unlocks it, unless a successor has it, too
	d.lock = nil
	return err
}

// file is the path of a file in the directory.
func (d *Dir) file(name string) string { return filepath.Join(d.path, name) }

// ready makes sure that writing is safe: the directory exists and is ours.
func (d *Dir) ready() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.readyLocked()
}

func (d *Dir) readyLocked() error {
	if d.closed {
		return errClosed
	}
	if d.lock != nil && d.holdsLocked() {
		return nil
	}
	if err := d.makeLocked(); err != nil {
		return fmt.Errorf("make data directory: %w", err)
	}
	f, err := lockFile(d.file(lockName))
	if errors.Is(err, ErrInUse) {
		return fmt.Errorf("data directory %s: %w%s: stop it, or give this one a directory of its own with -data-dir",
			d.path, ErrInUse, holder(d.file(lockName)))
	}
	if err != nil {
		return fmt.Errorf("lock data directory: %w", err)
	}
	d.lock = f
	sign(f)
	d.sweepLocked()
	return nil
}

// holdsLocked reports whether the lock file is still the one that is locked:
// the directory may have been removed and made anew.
func (d *Dir) holdsLocked() bool {
	held, err := d.lock.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(d.file(lockName))
	if err != nil || !os.SameFile(held, now) {
		_ = d.lock.Close() // of a file that is gone
		d.lock = nil
		return false
	}
	return true
}

// makeLocked makes the directory, and what is missing above it. Only what it
// makes itself gets its mode; an operator's own choice is left alone.
func (d *Dir) makeLocked() error {
	if _, err := os.Stat(d.path); err == nil {
		return nil
	}
	if err := os.MkdirAll(d.path, dirMode); err != nil {
		return err
	}
	return os.Chmod(d.path, dirMode) // whatever the umask
}

// sweepLocked removes what a crash left half written.
func (d *Dir) sweepLocked() {
	for _, name := range []string{settingsName, BansName, bansJournalName, lineName, lineJournalName, GrantsName, SalesName, RoomsName, RoomStateName, roomFiles} {
		left, err := filepath.Glob(d.file(name + tempMark + "*"))
		if err != nil {
			continue // a path with a bracket in it; the files only take up space
		}
		for _, path := range left {
			_ = os.Remove(path) // tried again at the next start
		}
	}
}

// sign writes the process's number into the lock file, for the message that a
// second process gets.
func sign(f *os.File) {
	if f.Truncate(0) == nil {
		_, _ = f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0) // no more than a courtesy
	}
}

// holder names the process that wrote itself into the lock file, if any.
func holder(path string) string {
	text, err := os.ReadFile(path)
	pid := strings.TrimSpace(string(text))
	if err != nil || pid == "" || len(pid) > 20 || strings.Trim(pid, "0123456789") != "" {
		return ""
	}
	return " (process " + pid + ")"
}
