package blackbox

import (
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/andreimerlescu/concert/blackbox/launch"
	"github.com/andreimerlescu/concert/internal/parts"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// TestFullDisk: proxying goes on, nothing is called done that is not on disk,
// what is there stays, and saving resumes.
func TestFullDisk(t *testing.T) {
	o := newOrigin(t)
	disk := parts.SmallDisk(t, "1m")
	dir := filepath.Join(disk.Path, "data")
	p := startIn(t, dir, o.Addr(), "-cap", "9", "-history-log", "off")
	admin(t, p, http.MethodPost, "/_room/cap", `{"cap":7}`, 200)
	admin(t, p, http.MethodPost, "/_room/abuse", `{"client":"203.0.113.1","permanent":true}`, 200)
	settings := read(t, dir, "settings.json")
	disk.Fill()

	if text := admin(t, p, http.MethodPost, "/_room/cap", `{"cap":5}`, 500); !strings.Contains(text, "nothing was changed") {
		t.Errorf("the cap's error: %s", text)
	}
	admin(t, p, http.MethodPatch, "/_room/settings", `{"cap":4,"abuse":false}`, 500)
	admin(t, p, http.MethodPost, "/_room/settings/undo", "", 500)
	banUntilFull(t, p)
	admin(t, p, http.MethodDelete, "/_room/abuse?client=203.0.113.1", "", 500)
	if stats(t, p).Cap != 7 || read(t, dir, "settings.json") != settings || !banned(t, p, "203.0.113.2") {
		t.Error("a change that was refused was made, or a ban is not in force")
	}
	if a := newVisitor(t, p).page("/"); !a.isOrigin() {
		t.Errorf("a page: status %d", a.status)
	}
	for path, want := range map[string]string{"/_room/stats": `"what":"settings.json"`, "/_room/metrics": "\nconcert_storage_faults "} {
		if _, text := call(t, http.MethodGet, p.URL+path, "", ""); !strings.Contains(text, want) || strings.Contains(text, "storage_faults 0") {
			t.Errorf("%s does not report the faults", path)
		}
	}
	if n := strings.Count(p.Stderr(), "cannot save"); n == 0 || n > 5 {
		t.Errorf("the log says %d times that something cannot be saved, want once for each file", n)
	}

	takeOver(t, p) // what is nowhere on disk goes along
	if !banned(t, p, "203.0.113.2") || banned(t, p, "203.0.113.1") {
		t.Error("a new process does not know the bans that could not be saved")
	}
	disk.Free()
	admin(t, p, http.MethodPost, "/_room/cap", `{"cap":5}`, 200)
	admin(t, p, http.MethodPost, "/_room/abuse", `{"client":"203.0.113.3","permanent":true}`, 200)
	if err := syscall.Kill(serving(t, p), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-p.Exited()
	p = startIn(t, dir, o.Addr(), "-history-log", "off")
	if got := stats(t, p).Cap; got != 5 {
		t.Errorf("cap %d after all, want 5", got)
	}
	if !banned(t, p, "203.0.113.2") || !banned(t, p, "203.0.113.3") || banned(t, p, "203.0.113.1") {
		t.Error("what could not be saved at first was not saved later")
	}
}

// banUntilFull bans until the journal's last page is full, which is with the
// ban of 203.0.113.2.
func banUntilFull(t *testing.T, p *launch.Process) {
	t.Helper()
	for i := range 32 { // of half a kilobyte each
		order := `{"client":"198.51.100.` + itoa(i) + `","permanent":true,"note":"` + strings.Repeat("x", 400) + `"}`
		if status, _ := call(t, http.MethodPost, p.URL+"/_room/abuse", adminToken, order); status == http.StatusInternalServerError {
			break
		}
	}
	if text := admin(t, p, http.MethodPost, "/_room/abuse", `{"client":"203.0.113.2","permanent":true}`, 500); !strings.Contains(text, "in force, but not on disk") {
		t.Errorf("the ban's error: %s", text)
	}
}

// TestModes: nobody else reads the files, whatever the umask.
func TestModes(t *testing.T) {
	old := syscall.Umask(0) // of Concert, too
	defer syscall.Umask(old)
	o, dir := newOrigin(t), dataDir(t)
	p := startIn(t, dir, o.Addr(), "-ban-paths", "/.env")
	admin(t, p, http.MethodPost, "/_room/cap", `{"cap":7}`, 200)
	admin(t, p, http.MethodPost, "/_room/abuse", `{"client":"203.0.113.1","permanent":true}`, 200)
	stop(t, p)
	seen := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %v, want %v", path, got, want)
		}
		seen++
		return nil
	})
	if err != nil || seen < 7 {
		t.Errorf("%d files, %v; want the directory, settings, bans with journal, line, audit and lock", seen, err)
	}
}

// TestReadOnlyDirectory: Concert serves, and says what it cannot do.
func TestReadOnlyDirectory(t *testing.T) {
	o := newOrigin(t)
	dir := parts.SmallDisk(t, "1m").Path
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	p := startIn(t, dir, o.Addr(), "-cap", "9")
	logged(t, p, "cannot save")
	admin(t, p, http.MethodPost, "/_room/cap", `{"cap":7}`, 500)
	if a := newVisitor(t, p).page("/"); !a.isOrigin() || stats(t, p).Cap != 9 {
		t.Errorf("a page: status %d; cap %d", a.status, stats(t, p).Cap)
	}
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT, ""); err != nil {
		t.Fatal(err)
	}
	rawtest.Until(t, "saving works once the disk can be written", func() bool {
		status, _ := call(t, http.MethodPost, p.URL+"/_room/cap", adminToken, `{"cap":7}`)
		return status == http.StatusOK
	})
	if read(t, dir, "settings.json") == "" {
		t.Error("saved, but there is no file")
	}
}
