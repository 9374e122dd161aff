package config

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// stored is a settings file with this text as its settings.
func stored(t testing.TB, text string) func(string) (Stored, error) {
	t.Helper()
	values := make(map[string]json.RawMessage)
	if err := json.Unmarshal([]byte(text), &values); err != nil {
		t.Fatal(err)
	}
	return func(dir string) (Stored, error) {
		return Stored{Name: filepath.Join(dir, "settings.json"), Values: values}, nil
	}
}

// loadStored loads with the settings stored in /d.
func loadStored(t *testing.T, text string, args ...string) *Loaded {
	t.Helper()
	l, err := Sources{Args: append(args, "-data-dir=/d"), ReadStored: stored(t, text)}.Load()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestStoredBeatsAll(t *testing.T) {
	l, err := Sources{
		Args:       []string{"-cap=9", "-reaper=40s"},
		Environ:    []string{"CONCERT_CAPACITY=8", "CONCERT_DATA_DIR=/d"},
		ReadStored: stored(t, `{"cap": 7}`),
	}.Load()
	if err != nil {
		t.Fatal(err)
	}
	if l.Config.Cap != 7 || l.Origins["cap"] != FromFile || l.Origins["reaper"] != FromFlag {
		t.Errorf("cap %d from %s, reaper from %s", l.Config.Cap, l.Origins["cap"], l.Origins["reaper"])
	}
}

func TestStoredIsReadFromTheDataDir(t *testing.T) {
	tests := map[string]struct {
		args, environ []string
		want          string // "": not read
	}{
		"default":            {nil, nil, "/var/lib/concert/data"},
		"variable":           {nil, []string{"CONCERT_DATA_DIR=/e"}, "/e"},
		"flag over variable": {[]string{"-data-dir=/f"}, []string{"CONCERT_DATA_DIR=/e"}, "/f"},
		"empty flag":         {[]string{"-data-dir", ""}, []string{"CONCERT_DATA_DIR=/e"}, ""},
		"blank variable":     {nil, []string{"CONCERT_DATA_DIR="}, "/var/lib/concert/data"},
		"version":            {[]string{"-version"}, nil, ""},
		"help":               {[]string{"-help"}, nil, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			_, _ = Sources{Args: tt.args, Environ: tt.environ, ReadStored: func(dir string) (Stored, error) {
				got = dir
				return Stored{}, nil
			}}.Load()
			if got != tt.want {
				t.Errorf("read %q, want %q", got, tt.want)
			}
		})
	}
}

func TestStoredValues(t *testing.T) {
	tests := []struct {
		key, json string
		want      string // the text in force; "!" and a part of the problem
	}{
		{"cap", `7`, "7"},
		{"cap", `"7"`, "7"},
		{"cap", `" 7 "`, "7"},
		{"cap", `7.5`, `!cap "7.5": want a number of page requests from 1`},
		{"cap", `1e3`, `!cap "1e3"`},
		{"cap", `0`, `!cap "0"`},
		{"cap", `null`, `!cap "null"`},
		{"cap", `true`, `!cap "true"`},
		{"cap", `[7]`, `!cap "[7]"`},
		{"cap", `{"n":7}`, `!cap "{`},
		{"cap", `99999999999999999999`, `!cap "9999`},
		{"reaper", `"40s"`, "40s"},
		{"reaper", `40`, "!add a unit, as in 40s"},
		{"upstream_timeout", `0`, "0"},
		{"api_json", `false`, "false"},
		{"api_json", `"false"`, "false"},
		{"api_json", `null`, "false"},
		{"api_json", `1`, `!put the value in quotes`},
		{"cookie_domain", `null`, ""},
		{"cookie_domain", `"example.org"`, "example.org"},
		{"cookie_domain", `5`, `!put the value in quotes`},
		{"queue_status_code", `429`, "429"},
		{"queue_status_code", `"429"`, "429"},
		{"queue_status_code", `404`, "!want 200, 202, 429 or 503"},
		{"assets", `"/a,/b"`, "/a,/b"},
		{"assets", `["/a", "/b"]`, "/a,/b"},
		{"assets", `["/a,/b"]`, "!must not hold a comma"},
		{"assets", `[1]`, `!assets "[1]"`},
		{"assets", `null`, ""},
		{"upstream", `"http://a:1"`, "http://a:1"},
		{"upstream", `null`, `!upstream "null"`},
	}
	for _, tt := range tests {
		t.Run(tt.key+" "+tt.json, func(t *testing.T) {
			l, err := Sources{ReadStored: stored(t, `{"`+tt.key+`":`+tt.json+`}`)}.Load()
			part, bad := strings.CutPrefix(tt.want, "!")
			switch {
			case bad && (err == nil || !strings.Contains(err.Error(), part) || !strings.Contains(err.Error(), "settings.json: "+tt.key)):
				t.Errorf("got %v, want %s", err, part)
			case !bad && err != nil:
				t.Error(err)
			case !bad:
				if got := row(Settings(), tt.key).Text(l.Config); got != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
			}
		})
	}
}

func TestStoredProblemsNameFileKeyAndFix(t *testing.T) {
	_, err := Sources{
		Args:       []string{"-data-dir=/d", "-stream-cap=0"},
		ReadStored: stored(t, `{"cap": 0, "retry_after": 60, "first_poll_grace": "10s"}`),
	}.Load()
	want := []string{
		`/d/settings.json: cap "0": want a number of page requests from 1 to 2147483647`,
		`-stream-cap "0": want a number of connections from 1 to 2147483647`,
		`/d/settings.json: first_poll_grace "10s": want 0 or at least twice /d/settings.json: retry_after, 2m: raise it, or lower the other`,
	}
	if err == nil || filepath.ToSlash(err.Error()) != strings.Join(want, "\n") {
		t.Errorf("got\n%v\nwant\n%s", err, strings.Join(want, "\n"))
	}
}

func TestStoredKeysThatDoNotApply(t *testing.T) {
	l := loadStored(t, `{"listen": ":1", "capp": 5, "admin_token": "hunter2", "data_dir": "/x", "future": {}}`)
	text := filepath.ToSlash(strings.Join(l.Warnings, "\n"))
	for _, want := range []string{
		`/d/settings.json: "listen" has no effect in the file: use -listen and restart`,
		`/d/settings.json: "capp" is no setting and has no effect; did you mean cap?`,
		`"admin_token" has no effect in the file: use CONCERT_ADMIN_TOKEN`,
		`"data_dir" has no effect`,
		`"future" is no setting`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no warning %s in\n%s", want, text)
		}
	}
	if strings.Contains(text, "hunter2") || l.Config.Listen != ":8080" || l.Origins["listen"] != FromDefault {
		t.Errorf("listen %s, warnings\n%s", l.Config.Listen, text)
	}
	// A newer Concert's keys survive a change made by this one.
	next, err := l.With(Changes{Set: map[string]json.RawMessage{"cap": json.RawMessage("5")}})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := next.Stored()["future"]; !ok {
		t.Error("an unknown key was lost")
	}
}

func TestUnreadableStoreIsAProblem(t *testing.T) {
	broken := errors.New("/d/settings.json: unexpected end")
	_, err := Sources{Args: []string{"-cap=0"}, ReadStored: func(string) (Stored, error) { return Stored{}, broken }}.Load()
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "-cap") {
		t.Errorf("got %v, want both problems", err)
	}
}

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

// FuzzStored gives one key any JSON. What is accepted must be stored in a
// form that loads to the same value.
func FuzzStored(f *testing.F) {
	rows := Settings()
	for i := range rows {
		for _, text := range []string{`1`, `"1s"`, `true`, `null`, `["/a"]`, `{}`, `"http://a"`, `"a.html"`, `[`, ``, `"\ud800"`} {
			f.Add(uint(i), text)
		}
	}
	base, err := Load(nil, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, i uint, text string) {
		s := rows[i%uint(len(rows))]
		next, err := base.With(Changes{Set: map[string]json.RawMessage{s.Key: json.RawMessage(text)}})
		if err != nil {
			if !strings.Contains(err.Error(), s.Key) {
				t.Fatalf("%s is not named: %v", s.Key, err)
			}
			return
		}
		values := next.Stored()
		if !json.Valid(values[s.Key]) {
			t.Fatalf("%s %q stored as %q", s.Key, text, values[s.Key])
		}
		again, err := base.WithStored(maps.Clone(values))
		if err != nil {
			t.Fatalf("%s %q stored as %s: %v", s.Key, text, values[s.Key], err)
		}
		if d := next.Diff(again); d != nil {
			t.Fatalf("%s %q: %v", s.Key, text, d)
		}
	})
}

// TestRefusedKeysHideNothing: what is wrong with the others is told as well.
func TestRefusedKeysHideNothing(t *testing.T) {
	l := mustLoad(t, nil, nil)
	_, err := l.With(Changes{Set: map[string]json.RawMessage{
		"listen": json.RawMessage(`":1"`), "cap": json.RawMessage(`0`), "nonsense": json.RawMessage(`1`),
	}})
	for _, want := range []string{"listen", "restart", "cap", "nonsense", "no such setting"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %q", err, want)
		}
	}
}
