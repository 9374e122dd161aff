package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// writeFile writes into a new directory and returns the path.
func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestParseEnvFile(t *testing.T) {
	got, err := parseEnvFile([]byte("\ufeff# a comment\r\n\n A = 1 \r\nexport B='two words'\nC=\"x\"\nD=\nE=a=b # not a comment\nF='\nG=\"\\n$A\""))
	want := []string{"A=1", "B=two words", "C=x", "D=", "E=a=b # not a comment", "F='", `G=\n$A`}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for text, want := range map[string]string{
		"A=1\nhunter2":   "line 2 is not NAME=value",
		"=1":             "line 1 is not NAME=value",
		"A B=1":          "line 1 is not NAME=value",
		"A=1\n\nB=\x002": "line 3 holds a NUL byte",
	} {
		if _, err := parseEnvFile([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

func TestEnvFiles(t *testing.T) {
	first := writeFile(t, "first.env", "CONCERT_CAPACITY=5\nCONCERT_REAPER=50s\nNADDR_DATA=x\nCONCERT_CAPCITY=1\nCONCERT_ENV_FILE=/x\nCONCERT_MAX_QUEUE=\n")
	second := writeFile(t, "second.env", "CONCERT_CAPACITY=6\n")
	environ := []string{"CONCERT_CAPACITY=4", "CONCERT_REAPER=40s", "CONCERT_MAX_QUEUE=900"}
	for name, l := range map[string]*Loaded{
		"two flags": mustLoad(t, []string{"-env-file", first, "-env-file=" + second}, environ),
		"a list":    mustLoad(t, []string{"-env-file", first + "," + second}, environ),
		"variable":  mustLoad(t, nil, append(environ, "CONCERT_ENV_FILE="+first+","+second)),
	} {
		c := l.Config
		if c.Cap != 6 || c.Reaper.String() != "50s" || c.MaxQueue != 900 || l.Origins["cap"] != FromEnv {
			t.Errorf("%s: cap %d from %s, reaper %s, max-queue %d", name, c.Cap, l.Origins["cap"], c.Reaper, c.MaxQueue)
		}
		if diff := cmp.Diff([]string{first, second}, c.EnvFiles); diff != "" {
			t.Error(name, diff)
		}
		text := strings.Join(l.Warnings, "\n")
		for _, want := range []string{first + `: "CONCERT_CAPCITY" is not a variable`, first + ": CONCERT_ENV_FILE has no effect"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no warning %s in\n%s", name, want, text)
			}
		}
	}
}

func TestEnvFileProblems(t *testing.T) {
	bad := writeFile(t, "bad.env", "CONCERT_ADMIN_TOKEN hunter2")
	value := writeFile(t, "value.env", "CONCERT_CAPACITY=abc")
	missing := filepath.Join(t.TempDir(), "missing.env")
	got := problemsOf(t, []string{"-env-file", bad + "," + value + "," + missing, "-cap=5"}, nil)
	want := []string{
		`-env-file "` + bad + `": want a readable file of NAME=value lines: line 1 is not NAME=value`,
		`-env-file "` + missing + `": want a readable file of NAME=value lines: open ` + missing + `: no such file or directory`,
		value + `: CONCERT_CAPACITY "abc": want a number of page requests from 1 to 2147483647`,
	}
	if filepath.Separator == '/' {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	} else if len(got) != 3 {
		t.Errorf("got %q", got)
	}
}

func TestReload(t *testing.T) {
	path := writeFile(t, "concert.env", "CONCERT_CAPACITY=5\nCONCERT_LISTEN=:1\n")
	l := mustLoad(t, []string{"-env-file", path}, []string{"CONCERT_CAPACITY=4"})
	if err := os.WriteFile(path, []byte("CONCERT_CAPACITY=6\nCONCERT_LISTEN=:2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	next, err := l.Reload()
	if err != nil {
		t.Fatal(err)
	}
	want := []Change{
		{"listen", ":1", ":2", FromEnv, FromEnv, false},
		{"cap", "5", "6", FromEnv, FromEnv, true},
	}
	if diff := cmp.Diff(want, l.Diff(next)); diff != "" {
		t.Error(diff)
	}
	if err := os.WriteFile(path, []byte("CONCERT_CAPACITY=0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := next.Reload(); err == nil || !strings.Contains(err.Error(), path+`: CONCERT_CAPACITY "0"`) {
		t.Errorf("got %v", err)
	}
}

// FuzzEnvFile: what is read is NAME=value throughout, and reads the same again.
func FuzzEnvFile(f *testing.F) {
	f.Add([]byte("A=1\n#x\nexport B='2'"))
	f.Add([]byte("=\n\x00"))
	f.Fuzz(func(t *testing.T, text []byte) {
		pairs, err := parseEnvFile(text)
		if err != nil {
			return
		}
		for _, pair := range pairs {
			if i := strings.IndexByte(pair, '='); i < 1 || strings.ContainsAny(pair, "\x00\n") {
				t.Fatalf("%q", pair)
			}
		}
	})
}
