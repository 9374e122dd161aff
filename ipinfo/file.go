package ipinfo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/andreimerlescu/concert/internal/ticks"
)

// retryEvery is how often a database that could not be loaded is tried again.
const retryEvery = time.Minute

// File answers from a database on disk, which it keeps in memory and loads
// again when the file changes. Use newFile, and keep Run going.
type File struct {
	path  string
	poll  time.Duration // 0: a loaded file is never looked at again
	log   *slog.Logger
	table atomic.Pointer[Table]

	mu     sync.Mutex // guards the fields below
	loaded time.Time
	err    error // of the last attempt; nil when it succeeded
}

var _ Source = (*File)(nil)

// newFile returns a File that knows nothing yet. poll is how often the file is
// looked at, at least a second; 0 turns that off.
func newFile(path string, poll time.Duration, log *slog.Logger) *File {
	return &File{path: path, poll: poll, log: log}
}

// Lookup implements [Source].
func (f *File) Lookup(a netip.Addr) (Details, bool) {
	t := f.table.Load()
	if t == nil {
		return Details{}, false
	}
	return t.Lookup(a)
}

// Loaded reports whether there is data to answer from.
func (f *File) Loaded() bool { return f.table.Load() != nil }

// Run loads the file and follows its changes until ctx ends.
func (f *File) Run(ctx context.Context) {
	w := watch{file: f}
	for ticks.Pause(ctx, w.step(time.Now())) {
	}
}

// watch is what Run remembers between two looks at the file.
type watch struct {
	file   *File
	tried  bool
	loaded fs.FileInfo // the file that the table is from
	failed fs.FileInfo // the file that could not be loaded; nil when none was there
	retry  time.Time   // when to try again; zero when the last attempt succeeded
	seen   fs.FileInfo // the file as the last look found it
	since  time.Time   // when it was first found like that
}

// step looks at the file, loads it when it is time, and says when to look again.
func (w *watch) step(now time.Time) time.Duration {
	found, err := os.Stat(w.file.path)
	if err != nil {
		found = nil
	}
	if !sameFile(found, w.seen) {
		w.seen, w.since = found, now
	}
	settled := w.file.poll == 0 || found == nil || now.Sub(w.since) >= w.file.poll
	changed := w.file.poll > 0 && found != nil && !sameFile(found, w.loaded) && !sameFile(found, w.failed)
	due := !w.retry.IsZero() && !now.Before(w.retry)
	switch {
	case found == nil && w.loaded != nil:
		// Deleted, perhaps to be replaced in a moment: the data stays good.
	case !w.tried, settled && (due || changed):
		w.load(now, found)
	}
	return w.next(now)
}

// next is the time to the next look.
func (w *watch) next(now time.Time) time.Duration {
	wait := 24 * time.Hour // nothing to do but to wait for the end
	if w.file.poll > 0 {
		wait = w.file.poll
	}
	if due := w.retry.Sub(now); due > 0 {
		wait = min(wait, due)
	}
	return wait
}

func (w *watch) load(now time.Time, found fs.FileInfo) {
	w.tried = true
	read, err := w.file.load(now)
	if err != nil {
		w.failed, w.retry = found, now.Add(retryEvery)
		return
	}
	w.loaded, w.failed, w.retry = read, nil, time.Time{}
}

// load reads the file and takes its table, or keeps the old one.
func (f *File) load(now time.Time) (fs.FileInfo, error) {
	t, read, err := readFile(f.path)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		if f.err == nil || f.err.Error() != err.Error() {
			f.log.Warn("IP database not loaded", "file", f.path, "error", err, "kept", f.Loaded(), "retry", retryEvery)
		}
		f.err = err
		return nil, err
	}
	f.table.Store(t)
	f.loaded, f.err = now, nil
	f.log.Info("IP database loaded", "file", f.path, "ranges", t.Rows())
	return read, nil
}

// readFile reads a whole database. The file must not change meanwhile: half of
// an old and half of a new one could well be in order.
func readFile(path string) (*Table, fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, fmt.Errorf("look at the IP database: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("IP database %s is no regular file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("open the IP database: %w", err)
	}
	defer file.Close() // only read from
	before, err := file.Stat()
	if err != nil {
		return nil, nil, fmt.Errorf("look at the IP database: %w", err)
	}
	t, err := ReadTable(file)
	if err != nil {
		return nil, nil, fmt.Errorf("read the IP database %s: %w", path, err)
	}
	after, err := file.Stat()
	if err == nil && !sameFile(before, after) {
		err = errors.New("it changed meanwhile")
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read the IP database %s: %w", path, err)
	}
	return t, after, nil
}

// sameFile reports whether nothing has happened to a file between two looks.
func sameFile(a, b fs.FileInfo) bool {
	return a != nil && b != nil && os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
