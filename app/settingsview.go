package app

import (
	"encoding/json"
	"strings"
	"time"
	"unicode"

	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/portal"
)

// settingsView shows every setting.
func (a *App) settingsView() portal.Settings {
	a.change.Lock()
	defer a.change.Unlock()
	out := portal.Settings{Fixed: a.loaded == nil, Faults: a.faults(true)}
	if a.settings != nil {
		out.File, out.Updated = a.settings.Path(), a.settings.Updated()
		out.Persisted = out.File != ""
		_, out.Undo = a.settings.Previous()
	}
	c := a.cfg.Load()
	if a.loaded != nil {
		c = a.loaded.Config // what takes a restart may have changed
	}
	for _, s := range config.Settings() {
		v := portal.Setting{
			Key: s.Key, Group: s.Group, Label: label(s.Key), Help: s.Help,
			Kind: s.Kind, Want: s.Want, Unit: s.Unit, Min: s.Min, Max: s.Max, Choices: s.Choices,
			Env: s.Env, Default: s.Default, Value: valueOf(s, c), Restart: !s.Live, Secret: s.Secret,
		}
		if s.Flag != "" {
			v.Flag = "-" + s.Flag
		}
		if a.loaded != nil {
			v.Source = a.loaded.Origins[s.Key]
			if a.loaded.Made(s) {
				v.Value = json.RawMessage(`"(unset)"`)
			}
		}
		out.Settings = append(out.Settings, v)
	}
	return out
}

// label is a key in words.
func label(key string) string {
	words := []rune(strings.ReplaceAll(key, "_", " "))
	words[0] = unicode.ToUpper(words[0])
	return string(words)
}

// valueOf is the value in JSON, as PATCH takes it.
func valueOf(s config.Setting, c *config.Config) json.RawMessage {
	text := s.Text(c)
	switch s.Kind {
	case config.KindBool, config.KindInt, config.KindFloat, config.KindSeconds:
		return json.RawMessage(text)
	case config.KindJSON:
		if text != "" {
			return json.RawMessage(text)
		}
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		panic("BUG: a string that is no JSON: " + err.Error())
	}
	return quoted
}

// faults tells what cannot be saved at present. The errors hold paths, which
// are for operators.
func (a *App) faults(errors bool) []portal.Fault {
	out := []portal.Fault{}
	for _, f := range a.data.Faults() {
		v := portal.Fault{What: f.What, Since: f.Since.UTC().Truncate(time.Second), Failures: f.Failures}
		if errors {
			v.Error = f.Err.Error()
		}
		out = append(out, v)
	}
	return out
}
