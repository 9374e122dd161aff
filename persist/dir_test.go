package persist

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/line"
)

func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes mean nothing here")
	}
	for _, mask := range []int{0, 0o077, 0o777} {
		before := setUmask(mask)
		path := filepath.Join(t.TempDir(), "data")
		err := fillDir(t, path)
		setUmask(before)
		if err != nil {
			t.Fatalf("umask %o: %v", mask, err)
		}
		wantMode(t, path, 0o700)
		for _, name := range strings.Fields(names(t, path)) {
			wantMode(t, filepath.Join(path, name), 0o600)
		}
		if got := names(t, path); got != "audit.jsonl bans.journal bans.json lock queue.snapshot settings.json" &&
			got != "audit.jsonl bans.json bans.journal lock queue.snapshot settings.json" {
			t.Errorf("files %s", got)
		}
	}
}

// fillDir makes a file of each kind.
func fillDir(t *testing.T, path string) error {
	d := openDir(t, path)
	s, err := d.Settings()
	if err != nil {
		return err
	}
	b, _, _, err := d.Bans()
	if err != nil {
		return err
	}
	b.Follow(nobody)
	return errors.Join(s.Save(nil, epoch()), b.Sync(), d.Audit(Act{At: epoch()}), d.SaveLine(SavedLine{}))
}

func wantMode(t *testing.T, path string, want os.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != want {
		t.Errorf("%s has mode %o, want %o", path, got, want)
	}
}

func TestSecondUserIsRefused(t *testing.T) {
	path := t.TempDir()
	d := openDir(t, path)
	_, err := Open(path, Options{})
	if !errors.Is(err, ErrInUse) {
		t.Fatalf("got %v, want ErrInUse", err)
	}
	wantError(t, err, path, fmt.Sprintf("(process %d)", os.Getpid()), "-data-dir")
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	openDir(t, path) // free again
}

func TestNotADirectory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	put(t, filepath.Dir(path), "file", "")
	_, err := Open(path, Options{})
	wantError(t, err, path, "is not a directory", "-data-dir")
}

// A directory that cannot be made is a fault, and no reason not to serve.
func TestDirectoryThatCannotBeMade(t *testing.T) {
	parent := t.TempDir()
	put(t, parent, "file", "")
	path := filepath.Join(parent, "file", "data")
	d := openDir(t, path)
	if f := d.Faults(); len(f) != 1 || f[0].What != "directory" || f[0].Err == nil {
		t.Errorf("faults %+v, want one of the directory", f)
	} else {
		wantError(t, f[0].Err, filepath.Dir(path), "-data-dir")
	}
	_, err := ReadSettings(filepath.Join(parent, "file")) // a file has no settings in it
	wantError(t, err, "file/settings.json", "-data-dir")
	wantError(t, d.SaveLine(SavedLine{}), "save "+filepath.Join(path, lineName))

	if err := os.Remove(filepath.Join(parent, "file")); err != nil {
		t.Fatal(err)
	}
	if err := d.SaveLine(SavedLine{}); err != nil {
		t.Error(err)
	}
	wantNoFaults(t, d)
}

func TestDirectoryThatVanishes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	d := openDir(t, path)
	b, _, _, err := d.Bans()
	if err != nil {
		t.Fatal(err)
	}
	ban := Ban{Client: prefix("192.0.2.1/32"), Offenses: 1}
	b.Follow(all(ban))
	if err := errors.Join(b.Sync(), d.Audit(Act{At: epoch(), What: "one"})); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	b.Record(ban)
	if err := errors.Join(b.Sync(), d.Audit(Act{At: epoch(), What: "two"})); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, Options{}); !errors.Is(err, ErrInUse) {
		t.Errorf("the new directory is not locked: %v", err)
	}
	if text := get(t, path, BansName) + get(t, path, auditName); !strings.Contains(text, "192.0.2.1") || !strings.Contains(text, "two") {
		t.Errorf("not written again: %s", text)
	}
}

func TestFailedWriteChangesNothing(t *testing.T) {
	path := t.TempDir()
	d := openDir(t, path)
	put(t, path, lineName, "old")
	broken := errors.New("broken")
	err := d.replace(lineName, func(w io.Writer) error {
		_, err := io.WriteString(w, strings.Repeat("new", 1<<16))
		return errors.Join(err, broken)
	})
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if f := d.Faults(); len(f) != 1 || f[0].What != lineName || f[0].Failures != 1 {
		t.Errorf("faults %+v", f)
	}
	if got := get(t, path, lineName); got != "old" {
		t.Errorf("content %q", got)
	}
	if got := names(t, path); got != "lock queue.snapshot" {
		t.Errorf("left behind: %s", got)
	}
}

func TestLeftoversAreRemoved(t *testing.T) {
	path := t.TempDir()
	for _, name := range []string{"settings.json.tmp-1", "bans.json.tmp-2", "queue.snapshot.tmp-3", "notes.tmp-4"} {
		put(t, path, name, "half")
	}
	openDir(t, path)
	if got := names(t, path); got != "lock notes.tmp-4" {
		t.Errorf("files %s", got)
	}
}

// With a lock that came from a predecessor nothing of its may be removed: it
// may still be writing.
func TestTakenOverLock(t *testing.T) {
	path := t.TempDir()
	first := openDir(t, path)
	put(t, path, "bans.json.tmp-2", "half")
	lock, err := os.OpenFile(first.Lock().Name(), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Open(path, Options{Lock: lock})
	if err != nil {
		t.Fatal(err)
	}
	if got := names(t, path); got != "bans.json.tmp-2 lock" {
		t.Errorf("files %s", got)
	}
	if err := second.SaveLine(SavedLine{}); err != nil {
		t.Error(err)
	}
	_ = second.Close()
}

func TestClosedDirWritesNothing(t *testing.T) {
	path := t.TempDir()
	d := openDir(t, path)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	wantError(t, d.SaveLine(SavedLine{}), "closed")
	wantError(t, d.Audit(Act{At: epoch()}), "closed")
	if got := names(t, path); got != "lock" {
		t.Errorf("files %s", got)
	}
}

// With the path "" everything works, and nothing is written anywhere.
func TestMemoryOnly(t *testing.T) {
	t.Chdir(t.TempDir())
	d := openDir(t, "")
	s, err := d.Settings()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Save(values(t, `{"cap": 5}`), epoch()); err != nil {
		t.Error(err)
	}
	if err := s.Read(); err != nil || string(s.Values()["cap"]) != "5" {
		t.Errorf("values %s, %v", s.Values(), err)
	}
	b, saved, warnings, err := d.Bans()
	if len(saved)+len(warnings) > 0 || err != nil {
		t.Error(saved, warnings, err)
	}
	b.Follow(nobody)
	b.Record(Ban{Client: prefix("192.0.2.1/32")})
	_, err = d.LoadLine()
	if err := errors.Join(err, b.Sync(), d.BeginLine(line.Snapshot{}), d.Audit(Act{What: "cap"})); err != nil {
		t.Error(err)
	}
	if acts := d.Acts(9); len(acts) != 1 || acts[0].What != "cap" {
		t.Errorf("acts %v", acts)
	}
	wantNoFaults(t, d)
	if got := names(t, "."); got != "" {
		t.Errorf("files %s", got)
	}
	if s.Path() != "" || d.Path() != "" || d.Lock() != nil {
		t.Error("a path or a lock")
	}
}
