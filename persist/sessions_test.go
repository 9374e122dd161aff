package persist

import (
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestSessionsComeBack(t *testing.T) {
	path := t.TempDir()
	d, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if all, err := d.Sessions(); err != nil || len(all) != 0 {
		t.Errorf("of a new directory: %v %v", all, err)
	}
	want := SavedSession{ID: []byte{1, 2}, Key: []byte{3}, Role: "viewer", Client: netip.MustParseAddr("::1"), Agent: "x", Began: time.Unix(1, 0).UTC(), Until: time.Unix(2, 0).UTC()}
	if err := d.SaveSessions([]SavedSession{want}); err != nil {
		t.Fatal(err)
	}
	all, err := d.Sessions()
	if err != nil || len(all) != 1 || string(all[0].ID) != string(want.ID) || all[0].Client != want.Client || !all[0].Until.Equal(want.Until) || all[0].Role != want.Role {
		t.Errorf("got %+v %v, want %+v", all, err, want)
	}
	if info, err := os.Stat(filepath.Join(path, sessionsName)); err != nil || info.Mode().Perm() != fileMode {
		t.Errorf("mode %v %v", info.Mode(), err)
	}
	for _, text := range []string{"", "{", `{"version":2,"sessions":[]}`} {
		if err := os.WriteFile(filepath.Join(path, sessionsName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if all, err := d.Sessions(); err == nil || all != nil {
			t.Errorf("of %q: %v %v", text, all, err)
		}
	}
	memory, err := Open("", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := memory.SaveSessions([]SavedSession{want}); err != nil {
		t.Errorf("without a directory: %v", err)
	}
}
