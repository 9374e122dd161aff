package app

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/persist"
	"github.com/andreimerlescu/concert/portal"
)

const testToken = "the-right-token"

// newLive is an App whose settings can be changed, with a data directory.
func newLive(t *testing.T, dir string, flags ...string) *App {
	t.Helper()
	a, end := newLiveIn(t, dir, nil, flags...)
	t.Cleanup(end)
	return a
}

// newLiveIn is newLive for a program that ends before its test does.
func newLiveIn(t *testing.T, dir string, environ []string, flags ...string) (a *App, end func()) {
	t.Helper()
	data, err := persist.Open(dir, persist.Options{})
	if err != nil {
		t.Fatal(err)
	}
	end = func() {
		if err := data.Close(); err != nil {
			t.Error(err)
		}
	}
	from := config.Sources{
		Args: append(flags, "-data-dir", dir), Environ: append(environ, "CONCERT_ADMIN_TOKEN="+testToken),
		ReadStored: func(dir string) (config.Stored, error) {
			s, err := persist.ReadSettings(dir)
			if err != nil {
				return config.Stored{}, err
			}
			return config.Stored{Name: s.Path(), Values: s.Values()}, nil
		},
	}
	loaded, err := from.Load()
	if err != nil {
		t.Fatal(err)
	}
	a, err = New(loaded.Config, Options{Origin: instant{}, Data: data, Loaded: loaded})
	if err != nil {
		t.Fatal(err)
	}
	return a, end
}

// set is a change of some settings.
func set(pairs ...string) config.Changes {
	ch := config.Changes{Set: map[string]json.RawMessage{}}
	for i := 0; i < len(pairs); i += 2 {
		ch.Set[pairs[i]] = json.RawMessage(pairs[i+1])
	}
	return ch
}

// TestChangeIsSavedThenInForce, and nothing of it is when it cannot be saved.
func TestChangeIsSavedThenInForce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	a := newLive(t, dir, "-cap=9")
	by := persist.By{Who: "test"}
	done, err := a.Change(t.Context(), by, set("cap", "7", "asset_user_cap_h2", "2"))
	if err != nil || len(done.Changes) != 2 || done.Changes[0].From != "9" || done.Changes[0].To != "7" {
		t.Fatalf("%+v, %v", done, err)
	}
	if s := a.Stats(); s.Cap != 7 || s.AssetCap != 14 {
		t.Errorf("cap %d, asset cap %d; want 7, 14", s.Cap, s.AssetCap)
	}
	if err := os.WriteFile(filepath.Join(dir, "settings.json"), []byte(`{"version":1,"settings":{"cap":3}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = a.Change(t.Context(), by, set("cap", "8"))
	if !errors.Is(err, ErrNotSaved) || !errors.Is(err, persist.ErrEdited) || a.Stats().Cap != 7 {
		t.Errorf("over an edit: %v, cap %d", err, a.Stats().Cap)
	}
	if err := a.Reload(t.Context()); err != nil || a.Stats().Cap != 3 {
		t.Errorf("after reading it: %v, cap %d", err, a.Stats().Cap)
	}
	if err := a.SetCap(t.Context(), 4); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "settings.json"))
	if err != nil || !strings.Contains(string(text), `"cap": 4`) {
		t.Errorf("SetCap is not saved: %s, %v", text, err)
	}
}

// TestFixedSettings: an App that was given a Config alone says so.
func TestFixedSettings(t *testing.T) {
	a := newApp(t)
	if _, err := a.Change(t.Context(), persist.By{}, set("cap", "7")); !errors.Is(err, ErrFixed) {
		t.Errorf("Change: %v", err)
	}
	if err := a.Reload(t.Context()); !errors.Is(err, ErrFixed) {
		t.Errorf("Reload: %v", err)
	}
	for _, r := range []struct{ method, path, body string }{
		{"PATCH", "/_room/settings", `{"cap":7}`}, {"POST", "/_room/settings/undo", ""},
	} {
		if w := ask(a, r.method, r.path, r.body, testToken); w.Code != 501 {
			t.Errorf("%s: %d %s", r.path, w.Code, w.Body)
		}
	}
	if w := ask(a, "GET", "/_room/settings", "", testToken); w.Code != 200 || !strings.Contains(w.Body.String(), `"fixed":true`) {
		t.Errorf("GET: %d %s", w.Code, w.Body)
	}
	live := newLive(t, filepath.Join(t.TempDir(), "data"))
	if err := live.Reconfigure(t.Context(), config.Default()); err == nil {
		t.Error("Reconfigure goes behind the back of Loaded")
	}
}

// TestEffects: a dry run tells whom a change concerns.
func TestEffects(t *testing.T) {
	a := newLive(t, "", "-cap=9")
	for _, order := range []string{`{"client":"203.0.113.1","permanent":true}`, `{"client":"203.0.113.2","duration":"1h"}`, `{"client":"198.51.100.0/24","permanent":true}`} {
		if w := ask(a, "POST", "/_room/abuse", order, testToken); w.Code != 200 {
			t.Fatal(w.Body)
		}
	}
	f := func(body string, want ...string) {
		t.Helper()
		w := ask(a, "PATCH", "/_room/settings?dry-run=1", body, testToken)
		var out struct{ Affects []Effect }
		if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || w.Code != 200 || len(out.Affects) != len(want) {
			t.Fatalf("%s: %d %s, want %q", body, w.Code, w.Body, want)
		}
		for i, e := range out.Affects {
			if got := e.Key + " " + e.Text; got != want[i] {
				t.Errorf("%s: %q, want %q", body, got, want[i])
			}
		}
	}
	f(`{"abuse":false}`, "abuse 3 of the running bans rest as long as it is off")
	f(`{"abuse_allow":["203.0.113.0/31","198.51.100.7"]}`, "abuse_allow 1 of the running bans ends for good")
	f(`{"cap":1,"max_queue":1,"room":"closed","stream_cap":1}`)
	if w := ask(a, "PATCH", "/_room/settings?dry-run=perhaps", `{"cap":1}`, testToken); w.Code != 400 {
		t.Errorf("dry-run=perhaps: %d", w.Code)
	}
	if w := ask(a, "PATCH", "/_room/settings?dry_run=1", `{"cap":1}`, testToken); w.Code != 400 {
		t.Errorf("a misspelt dry run: %d", w.Code)
	}
}

// TestSettingsView: every setting is there, as PATCH takes it back.
func TestSettingsView(t *testing.T) {
	a := newLive(t, "", "-cap=9")
	w := ask(a, "GET", "/_room/settings", "", testToken)
	var view portal.Settings
	if err := json.Unmarshal(w.Body.Bytes(), &view); err != nil {
		t.Fatal(err)
	}
	if len(view.Settings) != len(config.Settings()) || view.Fixed || view.Persisted || view.Undo {
		t.Errorf("%d settings, fixed %v, persisted %v, undo %v", len(view.Settings), view.Fixed, view.Persisted, view.Undo)
	}
	if strings.Contains(w.Body.String(), testToken) {
		t.Error("a secret is shown")
	}
	same := map[string]json.RawMessage{}
	for _, s := range view.Settings {
		if s.Label == "" || s.Help == "" || s.Group == "" || s.Source == "" || s.Env == "" {
			t.Errorf("%s: something is missing in %+v", s.Key, s)
		}
		if !s.Restart {
			same[s.Key] = s.Value
		}
		// The random key is not one that somebody set: it ends with the process.
		if want := map[string]string{"admit_secret": `"(unset)"`, "admin_token": `"(set)"`}[s.Key]; want != "" && string(s.Value) != want {
			t.Errorf("%s is shown as %s, want %s", s.Key, s.Value, want)
		}
	}
	body, err := json.Marshal(same)
	if err != nil {
		t.Fatal(err)
	}
	if w := ask(a, "PATCH", "/_room/settings?dry-run=1", string(body), testToken); w.Code != 200 {
		t.Errorf("what is shown is not accepted: %s", w.Body)
	}
}
