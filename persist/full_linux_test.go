package persist

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/andreimerlescu/concert/internal/parts"
	"github.com/andreimerlescu/concert/line"
)

// contents reads all files but the ballast.
func contents(t *testing.T, path string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for _, name := range strings.Fields(names(t, path)) {
		if name != parts.Ballast {
			all[name] = get(t, path, name)
		}
	}
	return all
}

// everyWrite is one write of each kind.
type everyWrite struct {
	d *Dir
	s *Settings
	r *registry
}

func newEveryWrite(t *testing.T, path string) everyWrite {
	t.Helper()
	d := openDir(t, path)
	return everyWrite{d, openSettings(t, d), newRegistry(t, d)}
}

// try makes them all, with content of the given size, and returns what failed.
func (w everyWrite) try(t *testing.T, n string) map[string]error {
	t.Helper()
	note := strings.Repeat("x", 8192) + n
	failed := make(map[string]error)
	did := func(what string, err error) {
		if err != nil {
			failed[what] = err
		}
	}
	did(settingsName, w.s.Save(values(t, `{"cap": "`+note+`"}`), epoch()))
	w.r.ban(Ban{Client: prefix("192.0.2.1/32"), Offenses: 1, Note: note})
	did(BansName, w.r.file.Sync())
	did(lineName, w.d.SaveLine(SavedLine{Snapshot: sampleLine(100)}))
	did(auditName, w.d.Audit(Act{At: epoch(), Note: note}))
	return failed
}

// A write that the disk has no room for is an error, changes nothing that was
// saved, and is made good once there is room.
func TestFullDisk(t *testing.T) {
	disk := parts.SmallDisk(t, "256k")
	path := disk.Path
	w := newEveryWrite(t, path)
	if failed := w.try(t, "first"); len(failed) > 0 {
		t.Fatal(failed)
	}
	disk.Fill()
	before := contents(t, path)
	for range 2 {
		failed := w.try(t, "second")
		if len(failed) != 4 {
			t.Errorf("failed: %v, want all four", failed)
		}
		for what, err := range failed {
			if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	wantFaults(t, w.d)
	if after := contents(t, path); !equal(before, after) {
		t.Errorf("what was saved changed:\n%v\n%v", keys(before), keys(after))
	}
	if !strings.HasSuffix(string(w.s.Values()["cap"]), `first"`) {
		t.Error("the settings in memory are not those on disk")
	}

	disk.Free()
	if err := w.r.file.Sync(); err != nil { // nobody has to ban again
		t.Error(err)
	}
	if _, saved, warnings := openBans(t, w.d); len(saved) != 1 || !strings.HasSuffix(saved[0].Note, "second") || warnings != nil {
		t.Errorf("%d bans, warnings %q", len(saved), warnings)
	}
	if failed := w.try(t, "third"); len(failed) > 0 {
		t.Error(failed)
	}
	wantNoFaults(t, w.d)
	if acts := strings.Count(get(t, path, auditName), "\n"); acts != 4 {
		t.Errorf("%d acts on disk, want all four", acts)
	}
}

func wantFaults(t *testing.T, d *Dir) {
	t.Helper()
	faults := d.Faults()
	if len(faults) != 4 {
		t.Errorf("faults %v", faults)
	}
	for _, f := range faults {
		if f.Failures != 2 || f.Err == nil || f.Since.IsZero() {
			t.Errorf("fault %+v", f)
		}
	}
}

func equal(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for k := range a {
		if a[k] != b[k] {
			return false
		}
	}
	return true
}

func keys(m map[string]string) (names []string) {
	for k, v := range m {
		names = append(names, k, v[:min(len(v), 200)])
	}
	return names
}

// A full disk cannot keep an old line from being unmarked as clean.
func TestFullDiskDropsTheCleanMark(t *testing.T) {
	disk := parts.SmallDisk(t, "256k")
	d := openDir(t, disk.Path)
	if err := d.SaveLine(SavedLine{sampleLine(100), true}); err != nil {
		t.Fatal(err)
	}
	disk.Fill()
	s, err := d.LoadLine()
	if err != nil || !s.Clean {
		t.Fatal(s.Clean, err)
	}
	if err := d.BeginLine(s.Snapshot); err != nil {
		t.Error(err)
	}
	if s, err := d.LoadLine(); err != nil || s.Clean {
		t.Errorf("still clean: %v, %v", s.Clean, err)
	}
}

func TestReadOnlyDisk(t *testing.T) {
	path := parts.SmallDisk(t, "256k").Path
	w := newEveryWrite(t, path)
	if failed := w.try(t, "first"); len(failed) > 0 {
		t.Fatal(failed)
	}
	_ = w.d.Close()
	_ = w.r.file.journal.close()
	_ = w.d.audit.file.close()
	if err := syscall.Mount("", path, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	before := contents(t, path)
	again := newEveryWrite(t, path) // which starts, and knows what was saved
	if len(again.r.bans) != 1 || len(again.s.Values()) != 1 {
		t.Errorf("%d bans, settings %v", len(again.r.bans), again.s.Values())
	}
	if f := again.d.Faults(); len(f) != 1 || f[0].What != "directory" {
		t.Errorf("faults %v", f)
	}
	for what, err := range again.try(t, "second") {
		if !errors.Is(err, syscall.EROFS) {
			t.Errorf("%s: %v", what, err)
		}
	}
	wantError(t, again.d.BeginLine(line.Snapshot{}), "read-only")
	if !equal(before, contents(t, path)) {
		t.Error("what was saved changed")
	}
}
