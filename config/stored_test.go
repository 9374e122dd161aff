package config

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
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
