package persist

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const goodSettings = `{
  "version": 1,
  "updated": "2026-11-30T12:00:00Z",
  "settings": {
    "cap": 7
  }
}
`

// openSettings opens what has to be readable.
func openSettings(t testing.TB, d *Dir) *Settings {
	t.Helper()
	s, err := d.Settings()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSettingsAreKept(t *testing.T) {
	path := t.TempDir()
	d := openDir(t, path)
	s := openSettings(t, d)
	if len(s.Values()) != 0 || !s.Updated().IsZero() {
		t.Errorf("values %s, updated %s", s.Values(), s.Updated())
	}
	if _, ok := s.Previous(); ok {
		t.Error("something to undo")
	}
	for _, text := range []string{`{"cap": 5}`, `{"cap": 6, "html": "a\u0000b"}`} {
		if err := s.Save(values(t, text), epoch()); err != nil {
			t.Fatal(err)
		}
	}
	again, err := ReadSettings(path) // as "concert check" does, beside the lock
	if err != nil {
		t.Fatal(err)
	}
	previous, ok := again.Previous()
	if diff := cmp.Diff(values(t, `{"cap": 5}`), previous); diff != "" || !ok {
		t.Error(diff, ok)
	}
	if diff := cmp.Diff(values(t, `{"cap": 6, "html": "a\u0000b"}`), again.Values()); diff != "" {
		t.Error(diff)
	}
	if !again.Updated().Equal(epoch()) || again.Path() != filepath.Join(path, settingsName) {
		t.Errorf("updated %s, path %s", again.Updated(), again.Path())
	}
}

func TestSettingsForm(t *testing.T) {
	path := t.TempDir()
	s := openSettings(t, openDir(t, path))
	put(t, path, settingsName, goodSettings)
	if err := s.Read(); err != nil {
		t.Fatal(err)
	}
	if err := s.Save(values(t, `{"api_json": false}`), epoch().Add(1)); err != nil {
		t.Fatal(err)
	}
	want := `{
  "version": 1,
  "updated": "2026-11-30T12:00:00Z",
  "settings": {
    "api_json": false
  },
  "previous": {
    "updated": "2026-11-30T12:00:00Z",
    "settings": {
      "cap": 7
    }
  }
}
`
	if diff := cmp.Diff(want, get(t, path, settingsName)); diff != "" {
		t.Error(diff)
	}
}

func TestDamagedSettingsAreAnError(t *testing.T) {
	tests := damages(goodSettings)
	tests["no settings"] = `{"version":1}`
	tests["settings of another shape"] = `{"version":1,"settings":[]}`
	tests["a key twice"] = "{\"version\":1,\"settings\":{\n\"cap\":1,\"x\":{\"cap\":2},\n\"cap\":3}}"
	tests["more behind it"] = goodSettings + "{}"
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			path := t.TempDir()
			put(t, path, settingsName, text)
			_, err := openDir(t, path).Settings()
			wantError(t, err, filepath.Join(path, settingsName), "correct the file, or delete it")
			if got := get(t, path, settingsName); got != text {
				t.Errorf("the file became %q", got)
			}
		})
	}
}

func TestSettingsErrorsSayWhere(t *testing.T) {
	for text, want := range map[string]string{
		"{\n\"version\": 1,\n\"settings\": {\"cap\": }}":          "line 3: invalid character",
		"{\n\"version\": \"1\"}":                                  `line 2: "version" must not be a JSON string`,
		"{\"version\":1,\"settings\":{\n\"cap\":1,\n\"cap\":3}}":  `line 3: "cap" stands there twice`,
		"{\"version\":3,\"settings\":{}}":                         "version 3 and was written by a newer Concert; this one reads version 1",
		"{\"version\":1,\"settings\":{}, \"settings\":{\"a\":1}}": `line 1: "settings" stands there twice`,
	} {
		_, err := parseSettings([]byte(text))
		wantError(t, err, want)
	}
}

func TestUnknownMembersAreRead(t *testing.T) {
	f, err := parseSettings([]byte(`{"version":1,"comment":["a",{"b":1}],"settings":{"cap":{"a":[1,{"a":2}]}}}`))
	if err != nil || len(f.Values) != 1 {
		t.Errorf("%v, %v", f, err)
	}
}

func TestEditsAreNotOverwritten(t *testing.T) {
	path := t.TempDir()
	s := openSettings(t, openDir(t, path))
	if err := s.Save(values(t, `{"cap": 5}`), epoch()); err != nil {
		t.Fatal(err)
	}
	put(t, path, settingsName, goodSettings)
	err := s.Save(values(t, `{"cap": 6}`), epoch())
	if !errors.Is(err, ErrEdited) {
		t.Errorf("got %v, want ErrEdited", err)
	}
	wantError(t, err, filepath.Join(path, settingsName), "SIGHUP")
	if get(t, path, settingsName) != goodSettings || string(s.Values()["cap"]) != "5" {
		t.Error("the failed save changed something")
	}
	if err := errors.Join(s.Read(), s.Save(values(t, `{"cap": 8}`), epoch())); err != nil {
		t.Error(err)
	}
	if previous, _ := s.Previous(); string(previous["cap"]) != "7" {
		t.Errorf("previous %s", previous)
	}

	if err := os.Remove(s.Path()); err != nil {
		t.Fatal(err)
	}
	if err := s.Save(values(t, `{"cap": 9}`), epoch()); err != nil {
		t.Errorf("a removed file is not written again: %v", err)
	}
}

func TestUnreadableEditChangesNothing(t *testing.T) {
	path := t.TempDir()
	s := openSettings(t, openDir(t, path))
	if err := s.Save(values(t, `{"cap": 5}`), epoch()); err != nil {
		t.Fatal(err)
	}
	put(t, path, settingsName, "{")
	wantError(t, s.Read(), settingsName)
	if string(s.Values()["cap"]) != "5" {
		t.Errorf("values %s", s.Values())
	}
}

func TestHugeSettingsAreRefused(t *testing.T) {
	path := t.TempDir()
	put(t, path, settingsName, strings.Repeat(" ", maxSettings+1))
	_, err := openDir(t, path).Settings()
	wantError(t, err, "larger than 4 MiB")
}

// FuzzSettings: what is read can be saved and reads the same; what is not
// gives an error; nothing panics.
func FuzzSettings(f *testing.F) {
	f.Add([]byte(goodSettings))
	for _, text := range damages(goodSettings) {
		f.Add([]byte(text))
	}
	f.Add([]byte(`{"version":1,"settings":{"a":[{"b":{}},null]},"previous":{"settings":null}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := parseSettings(text)
		if err != nil || text == nil {
			return
		}
		again, err := json.Marshal(file)
		if err != nil {
			t.Skip("a year that JSON cannot write:", err)
		}
		if file, err = parseSettings(again); err != nil {
			t.Fatalf("%q became %q: %v", text, again, err)
		}
		third, err := json.Marshal(file)
		if err != nil || string(third) != string(again) {
			t.Fatalf("%q became %q (%v)", again, third, err)
		}
	})
}
