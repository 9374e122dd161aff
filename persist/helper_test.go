package persist

import (
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// epoch is a time without fractions, so that it survives every form.
func epoch() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }

// openDir opens a directory for the time of the test.
func openDir(t testing.TB, path string) *Dir {
	t.Helper()
	d, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() }) // closing twice does no harm
	return d
}

// put writes a file into the directory.
func put(t testing.TB, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// get reads a file of the directory.
func get(t testing.TB, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// names lists the directory.
func names(t testing.TB, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

// values is a set of settings.
func values(t testing.TB, text string) map[string]json.RawMessage {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// wantError wants an error that holds every part.
func wantError(t testing.TB, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one with %q", parts)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q lacks %q", err, part)
		}
	}
}

// wantNoFaults wants everything saved.
func wantNoFaults(t testing.TB, d *Dir) {
	t.Helper()
	if faults := d.Faults(); faults != nil {
		t.Errorf("faults %+v", faults)
	}
}

func prefix(text string) netip.Prefix { return netip.MustParsePrefix(text) }

// damages are what happens to files, by name.
func damages(text string) map[string]string {
	return map[string]string{
		"cut in the middle": text[:len(text)/2],
		"cut at the end":    text[:len(text)-3],
		"empty":             "",
		"blank":             " \n",
		"NUL":               strings.Repeat("\x00", len(text)),
		"NUL at the end":    text[:len(text)/2] + strings.Repeat("\x00", len(text)-len(text)/2),
		"another shape":     `[1, 2, 3]`,
		"an object":         `{}`,
		"a number":          `5`,
		"not JSON":          "version: 1\n",
		"newer":             `{"version":2}` + "\n",
	}
}

func removeFile(dir, name string) error { return os.Remove(filepath.Join(dir, name)) }

// flipped flips each bit of text in turn, and wants none of it taken for good.
func flipped(t testing.TB, text string, good func([]byte) bool) {
	t.Helper()
	if !good([]byte(text)) {
		t.Fatal("the original is not good")
	}
	for i := range len(text) * 8 {
		bytes := []byte(text)
		bytes[i/8] ^= 1 << (i % 8)
		if good(bytes) {
			t.Fatalf("bit %d flipped was taken for good:\n%s", i, bytes)
		}
	}
}
