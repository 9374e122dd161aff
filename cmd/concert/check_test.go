package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckLooksAtTheDataDirectory, and leaves it as it was.
func TestCheckLooksAtTheDataDirectory(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{dir: false, filepath.Join(dir, "new"): false, file: true} {
		var out, problems bytes.Buffer
		status := run(t.Context(), []string{"check", "-upstream", "http://127.0.0.1:3000", "-data-dir", path}, nil, &out, &problems)
		warned := strings.Contains(out.String()+problems.String(), "not a directory")
		if warned != want {
			t.Errorf("%s: status %d, warned %v:\n%s%s", path, status, warned, &out, &problems)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "new")); !os.IsNotExist(err) {
		t.Errorf("check made the directory: %v", err)
	}
}
