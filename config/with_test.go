package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWith(t *testing.T) {
	l := loadStored(t, `{"reaper": "1m0s"}`, "-cap=9")
	set := map[string]json.RawMessage{"cap": json.RawMessage(`" 12"`), "assets": json.RawMessage(`["/a", "/b"]`)}
	next, err := l.With(Changes{Set: set, Reset: []string{"reaper"}})
	if err != nil {
		t.Fatal(err)
	}
	want := []Change{
		{"cap", "9", "12", FromFlag, FromFile, true},
		{"reaper", "1m", "36s", FromFile, FromDefault, true},
		{"assets", "", "/a,/b", FromDefault, FromFile, true},
	}
	if diff := cmp.Diff(want, l.Diff(next)); diff != "" {
		t.Error(diff)
	}
	wantStored := map[string]json.RawMessage{"cap": json.RawMessage("12"), "assets": json.RawMessage(`"/a,/b"`)}
	if diff := cmp.Diff(wantStored, next.Stored()); diff != "" {
		t.Error(diff)
	}
	if l.Config.Cap != 9 || len(l.Stored()) != 1 {
		t.Error("the earlier configuration changed")
	}
	if !slices.EqualFunc(l.Config.AdmitSecrets, next.Config.AdmitSecrets, slices.Equal) {
		t.Error("a change made a new random key: every pass and ticket would end")
	}
	back, err := next.WithStored(l.Stored())
	if err != nil {
		t.Fatal(err)
	}
	if changes := l.Diff(back); changes != nil {
		t.Errorf("after undoing: %v", changes)
	}
}

func TestWithIsAllOrNothing(t *testing.T) {
	l := loadStored(t, `{}`)
	set := func(text string) (m map[string]json.RawMessage) {
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	tests := map[string]struct {
		changes Changes
		want    string
	}{
		"bad value":   {Changes{Set: set(`{"cap": 0, "assets": "/a"}`)}, `cap "0": want a number of page requests from 1 to 2147483647`},
		"rule":        {Changes{Set: set(`{"retry_after": 60}`)}, `-first-poll-grace "30s": want 0 or at least twice retry_after, 2m: raise it, or lower the other`},
		"unknown":     {Changes{Set: set(`{"capp": 5}`)}, `setting "capp": there is no such setting; did you mean cap?`},
		"restart":     {Changes{Set: set(`{"listen": ":1"}`)}, `setting "listen": it takes a restart: use -listen`},
		"data dir":    {Changes{Set: set(`{"data_dir": "/x"}`)}, `setting "data_dir": it takes a restart: use -data-dir`},
		"secret":      {Changes{Set: set(`{"admin_token": "hunter2"}`)}, `setting "admin_token": it takes a restart: use CONCERT_ADMIN_TOKEN`},
		"reset":       {Changes{Reset: []string{"x"}}, `setting "x": there is no such setting`},
		"both":        {Changes{Set: set(`{"cap": 5}`), Reset: []string{"cap"}}, `setting "cap": either set it or reset it`},
		"missing":     {Changes{Set: map[string]json.RawMessage{"cap": nil}}, `cap "": want a number of page requests from 1 to 2147483647: the value is missing`},
		"all of them": {Changes{Set: set(`{"cap": 0, "reaper": 5}`)}, `cap "0": want a number of page requests from 1 to 2147483647` + "\n" + `reaper "5": want a duration from 5s to 24h: add a unit, as in 5s`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			next, err := l.With(tt.changes)
			if err == nil || err.Error() != tt.want || next != nil {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

// Whoever may change settings must not be able to publish any file.
func TestStoredPageMustBeAPage(t *testing.T) {
	dir := t.TempDir()
	for name, tt := range map[string]struct{ text, want string }{
		"concert.env":  {"CONCERT_ADMIN_TOKEN=x", "must end in .html"},
		"secrets.html": {"CONCERT_ADMIN_TOKEN=x", "must start with <"},
		"page.html":    {"\ufeff \n<h1>soon</h1>", ""},
		"page.HTM":     {"<h1>soon</h1>", ""},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{path, name} { // a bare name is one in the directory
			refusedPage(t, dir, path, tt.want)
		}
		refusedPage(t, "", path, "-pages-dir")
		if tt.want == "" {
			refusedPage(t, t.TempDir(), path, "in -pages-dir")
		}
	}
	outside := filepath.Join(t.TempDir(), "outside.html")
	if err := os.WriteFile(outside, []byte("<h1>no</h1>"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link.html")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"link.html", filepath.Join(dir, "link.html"), "../outside.html", outside} {
		refusedPage(t, dir, path, "in -pages-dir")
	}
	mustLoad(t, []string{"-html", filepath.Join(dir, "concert.env")}, nil) // the operator's own word
}

// refusedPage changes html in a Concert that was started with a directory of
// pages; want is "" when that is to succeed.
func refusedPage(t *testing.T, dir, path, want string) {
	t.Helper()
	quoted, _ := json.Marshal(path)
	l := loadStored(t, `{}`)
	if dir != "" {
		l = loadStored(t, `{}`, "-pages-dir", dir)
	}
	_, err := l.With(Changes{Set: map[string]json.RawMessage{"html": quoted}})
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Errorf("%s in %q: got %v, want %q", path, dir, err, want)
	}
}

func TestDiffHidesSecrets(t *testing.T) {
	a := mustLoad(t, []string{"-upstream=http://o/1"}, []string{"CONCERT_ADMIN_TOKEN=hunter1hunter1hunter1"})
	b := mustLoad(t, []string{"-upstream=http://o/2"}, []string{"CONCERT_ADMIN_TOKEN=hunter2hunter2hunter2"})
	b.Config.AdmitSecrets = a.Config.AdmitSecrets
	changes := a.Diff(b)
	want := []Change{
		{"upstream", "http://o/1", "http://o/2", FromFlag, FromFlag, true},
		{"admin_token", "(set)", "(set)", FromEnv, FromEnv, false},
	}
	if diff := cmp.Diff(want, changes); diff != "" {
		t.Error(diff)
	}
}
