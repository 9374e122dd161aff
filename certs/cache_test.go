package certs

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/acme/autocert"
)

func TestCheckCache(t *testing.T) {
	dir := t.TempDir()
	file := write(t, dir, "file", nil)
	f := func(path, says string) {
		t.Helper()
		err := CheckCache(path)
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%s: %v, want %q", path, err, says)
		}
	}
	f(dir, "")
	f(dir+"/to/be/made", "")
	if _, err := os.Stat(dir + "/to"); err == nil {
		t.Error("a check makes directories")
	}
	f("", "needed")
	f(file, "not a directory")
	f(file+"/below", "not a directory")
	if entries, _ := filepath.Glob(dir + "/.concert*"); len(entries) > 0 {
		t.Errorf("a check leaves %v", entries)
	}
	if os.Getuid() == 0 {
		return // nothing is closed to root
	}
	foreign := write(t, dir, "site.test", nil)
	if err := os.Chmod(foreign, 0); err != nil {
		t.Fatal(err)
	}
	f(dir, "site.test in it must not be read")
	closed := filepath.Join(t.TempDir(), "closed")
	if err := os.Mkdir(closed, 0o500); err != nil {
		t.Fatal(err)
	}
	f(closed, "must not write")
	f(closed+"/below", "must not make it in")
}

// TestCacheOutlivesTheDisk: what cannot be written is there all the same, and
// is written once that is possible.
func TestCacheOutlivesTheDisk(t *testing.T) {
	blocked := write(t, t.TempDir(), "file", nil)
	kept := 0
	c := &cache{dir: autocert.DirCache(blocked), log: slog.New(slog.DiscardHandler), unsaved: make(map[string][]byte),
		kept: func(string, []byte) { kept++ }}
	ctx := t.Context()
	if err := c.Put(ctx, "site.test", []byte("certificate")); err != nil {
		t.Fatalf("autocert would throw it away: %v", err)
	}
	if err := c.Put(ctx, "site.test+token", []byte("token")); err != nil {
		t.Fatal(err)
	}
	if data, err := c.Get(ctx, "site.test"); string(data) != "certificate" || err != nil {
		t.Errorf("got %q, %v", data, err)
	}
	if kept != 1 || c.problem() == nil {
		t.Errorf("%d certificates told of, problem %v", kept, c.problem())
	}
	if err := os.Remove(blocked); err != nil {
		t.Fatal(err)
	}
	c.retry(ctx)
	info, err := os.Stat(filepath.Join(blocked, "site.test"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("on disk: %v, %v", info, err)
	}
	if c.problem() != nil {
		t.Errorf("still: %v", c.problem())
	}
	if err := c.Delete(ctx, "site.test"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(ctx, "site.test"); err != autocert.ErrCacheMiss {
		t.Errorf("deleted: %v", err)
	}
}
