package persist

import (
	"os"
	"path/filepath"
	"testing"
)

func TestProbe(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "file", "")
	for path, want := range map[string]string{
		"": "", dir: "", filepath.Join(dir, "not", "made", "yet"): "",
		filepath.Join(dir, "file"):         "is not a directory",
		filepath.Join(dir, "file", "more"): "not a directory",
	} {
		if err := Probe(path); want != "" {
			wantError(t, err, want)
		} else if err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	if got := names(t, dir); got != "file" {
		t.Errorf("left behind: %s", got)
	}
	if os.Getuid() == 0 {
		return // root may write anywhere
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	wantError(t, Probe(dir), "permission denied", "-data-dir")
}

// TestRefusedSettingsFaultEnds once some file can be written anew.
func TestRefusedSettingsFaultEnds(t *testing.T) {
	d := openDir(t, t.TempDir())
	d.health.note(settingsName, os.ErrPermission)
	if err := d.SaveLine(SavedLine{}); err != nil {
		t.Fatal(err)
	}
	wantNoFaults(t, d)
	d.health.note(settingsName, ErrEdited) // which takes an operator
	if err := d.SaveLine(SavedLine{}); err != nil {
		t.Fatal(err)
	}
	if len(d.Faults()) != 1 {
		t.Error("an edited file is forgotten")
	}
}
