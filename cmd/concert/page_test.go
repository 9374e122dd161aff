package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// callPage runs the subcommand and returns its exit status and what it said.
func callPage(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, problems bytes.Buffer
	status = run(t.Context(), append([]string{"page"}, args...), nil, &out, &problems)
	return status, out.String(), problems.String()
}

func TestPageWritesAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.html")
	if status, _, problems := callPage(t, "-lang", "de", path); status != exitOK || problems != "" {
		t.Fatalf("status %d: %s", status, problems)
	}
	html, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`<html lang="de"`, `id="position">{{.Position}}<`, "/queue/status", "</html>\n"} {
		if !strings.Contains(string(html), want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	status, _, problems := callPage(t, path)
	if again, _ := os.ReadFile(path); status != exitFailed || !strings.Contains(problems, "exists") || !bytes.Equal(again, html) {
		t.Errorf("over a file: status %d, %s", status, problems)
	}
}

func TestPageOnStandardOutput(t *testing.T) {
	if status, html, _ := callPage(t, "-"); status != exitOK || !strings.Contains(html, "You are in line") {
		t.Errorf("status %d, %.100s", status, html)
	}
}

func TestPageUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"a", "b"}, {"-lang", "xx", "a"}, {"-nonsense"}} {
		if status, _, problems := callPage(t, args...); status != exitUsage || !strings.Contains(problems, "usage: concert page") {
			t.Errorf("%q: status %d, %s", args, status, problems)
		}
	}
	if _, _, problems := callPage(t, "-lang", "xx", "a"); !strings.HasPrefix(problems, `concert page: -lang "xx"`) {
		t.Errorf("unknown language: %s", problems)
	}
	if status, _, problems := callPage(t, "-help"); status != exitOK || !strings.Contains(problems, "zh-Hans") {
		t.Errorf("-help: status %d, %s", status, problems)
	}
}
