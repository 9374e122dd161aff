package config

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"
)

// checkOf is the output of "concert check".
func checkOf(t *testing.T, args, environ []string) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteCheck(&b, mustLoad(t, args, environ)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestWriteCheck(t *testing.T) {
	text := checkOf(t,
		[]string{"-cap=9", "-bypass=", "-upstream=http://origin.test/", "-cookie-path=/a b"},
		[]string{"CONCERT_REAPER=90s", "CONCERT_ADMIN_TOKEN=hunter2hunter2hunter2", "CONCERT_CAPCITY=1", "CONCERT_HTML_FILE="})
	lines := make(map[string]string)
	for line := range strings.Lines(text) {
		name, rest, _ := strings.Cut(line, " ")
		lines[name] += strings.Join(strings.Fields(rest), " ") + "\n"
	}
	for name, want := range map[string]string{
		"SETTING":              "VALUE SOURCE CHANGES\n",
		"-listen":              ":8080 default restart\n",
		"-cap":                 "9 flag live\n",
		"-reaper":              "1m30s env live\n",
		"-bypass":              "\"\" flag live\n",
		"-html":                "\"\" default live\n",
		"-asset-cap":           "0 (1152) default live\n",
		"-token-ttl":           "0 (5m) default live\n",
		"-upstream":            "http://origin.test/ flag live\n",
		"CONCERT_ADMIN_TOKEN":  "(set) env restart\n",
		"CONCERT_ADMIT_SECRET": "(unset) default restart\n",
	} {
		if lines[name] != want {
			t.Errorf("%s: %q, want %q", name, lines[name], want)
		}
	}
	if n := strings.Count(lines["warning:"], "\n"); n != 3 {
		t.Errorf("%d warnings, want 3: %s", n, lines["warning:"])
	}
	if strings.Contains(text, "hunter2") {
		t.Errorf("a secret in\n%s", text)
	}
	for _, s := range Settings() {
		if lines[s.name(FromFlag)] == "" {
			t.Errorf("%s is missing", s.Key)
		}
	}
}

func TestWriteCheckQuotesWhatCouldDeceive(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("its files have no such names")
	}
	page := t.TempDir() + "/a\nb\x1b[2J"
	if err := os.WriteFile(page, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if text := checkOf(t, []string{"-html", page}, nil); !strings.Contains(text, `/a\nb\x1b[2J"`) {
		t.Errorf("unquoted:\n%s", text)
	}
}

func TestHelpNamesEverything(t *testing.T) {
	var b bytes.Buffer
	if err := WriteHelp(&b); err != nil {
		t.Fatal(err)
	}
	words := strings.Join(strings.Fields(b.String()), " ")
	for _, s := range Settings() {
		for _, part := range []string{s.Env, s.Help, s.Want, string(s.Group)} {
			if !strings.Contains(words, part) {
				t.Errorf("%s: help lacks %q", s.Key, part)
			}
		}
		if s.Flag != "" && !strings.Contains(words, " -"+s.Flag) {
			t.Errorf("help lacks -%s", s.Flag)
		}
	}
	for line := range strings.Lines(b.String()) {
		if len(line) > 80 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
}

func TestDocsAreCurrent(t *testing.T) {
	b := bytes.NewBufferString("# Configuration\n\n")
	if err := WriteMarkdown(b); err != nil {
		t.Fatal(err)
	}
	const path = "../docs/configuration.md"
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytes.ReplaceAll(have, []byte("\r\n"), []byte("\n")), b.Bytes()) {
		t.Errorf("%s differs from the settings table: run make docs", path)
	}
}

// full is a disk with no space left.
type full struct{}

var errFull = errors.New("no space left")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestWriteErrorsAreReported(t *testing.T) {
	for name, err := range map[string]error{
		"check":    WriteCheck(full{}, mustLoad(t, nil, nil)),
		"help":     WriteHelp(full{}),
		"markdown": WriteMarkdown(full{}),
	} {
		if !errors.Is(err, errFull) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
