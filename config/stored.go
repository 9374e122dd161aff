package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// layer turns stored values into texts. A key that does not exist, or that
// only a restart can change, is skipped with a warning: the one may be of a
// newer Concert, the other was never put there by Concert.
func (st Stored) layer(rows []Setting) (layer, []string, error) {
	file := newLayer(FromFile)
	var warnings []string
	v := validator{}
	for _, key := range slices.Sorted(maps.Keys(st.Values)) {
		i := slices.IndexFunc(rows, func(s Setting) bool { return s.Key == key })
		if i < 0 {
			warnings = append(warnings, fmt.Sprintf("%s: %q is no setting and has no effect%s", st.Name, shorten(key), meant(key, rows)))
			continue
		}
		s := rows[i]
		if !s.Live {
			warnings = append(warnings, fmt.Sprintf("%s: %q has no effect in the file: use %s and restart", st.Name, key, s.name(FromFlag)))
			continue
		}
		file.names[key] = st.nameOf(key)
		text, err := textOf(s, st.Values[key])
		if err != nil {
			v.reject(s, file.name(s), text, err)
			continue
		}
		file.texts[key] = text
	}
	return file, warnings, v.err()
}

// nameOf is what an operator calls the key of the file.
func (st Stored) nameOf(key string) string {
	if st.Name == "" {
		return key
	}
	return st.Name + ": " + key
}

// meant suggests the key that was likely meant.
func meant(key string, rows []Setting) string {
	var keys []string
	for _, s := range rows {
		keys = append(keys, s.Key)
	}
	if near := nearest(key, keys); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// textOf is the text form of a JSON value. On an error it is the JSON, for
// the message.
func textOf(s Setting, raw json.RawMessage) (string, error) {
	raw = bytes.TrimSpace(raw)
	asIs := string(raw)
	if len(raw) == 0 {
		return asIs, misfit("the value is missing")
	}
	switch raw[0] {
	case '"':
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return asIs, misfit("")
		}
		return strings.TrimSpace(text), nil
	case '[':
		if s.Kind == KindJSON {
			return asIs, nil
		}
		return listText(s, raw)
	case '{':
		return asIs, misfit("")
	case 't', 'f':
		if s.Kind != KindBool {
			return asIs, misfit("")
		}
	case 'n':
		return nullText(s)
	default:
		if !slices.Contains([]Kind{KindInt, KindFloat, KindSeconds, KindDuration, KindChoice}, s.Kind) {
			return asIs, misfit("put the value in quotes")
		}
	}
	return asIs, nil
}

// nullText is the text of null: empty, or false.
func nullText(s Setting) (string, error) {
	switch s.Kind {
	case KindBool:
		return "false", nil
	case KindText, KindList, KindFile, KindJSON:
		return "", nil
	}
	return "null", misfit("")
}

// listText joins a JSON array.
func listText(s Setting, raw json.RawMessage) (string, error) {
	var entries []string
	if s.Kind != KindList || json.Unmarshal(raw, &entries) != nil {
		return string(raw), misfit("")
	}
	for _, entry := range entries {
		if strings.Contains(entry, ",") {
			return string(raw), misfit("an entry must not hold a comma")
		}
	}
	return strings.Join(entries, ","), nil
}

// jsonOf is the canonical JSON of the value c has for the setting.
func jsonOf(s Setting, c *Config) json.RawMessage {
	text := s.bind.text(c)
	if s.Kind == KindBool || s.Kind == KindInt || s.Kind == KindFloat || s.Kind == KindSeconds || s.Kind == KindJSON && text != "" {
		return json.RawMessage(text)
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		panic("BUG: a string that is no JSON: " + err.Error())
	}
	return quoted
}

// Changes are what an operator wants different.
type Changes struct {
	Set   map[string]json.RawMessage // by key; as in the settings file
	Reset []string                   // keys that go back to flag, variable or default
}

// With returns the configuration as it would be after the changes, over the
// same sources. All of them are made or none is: the error holds every
// problem, named by key. Nothing is saved; see Stored for what to save.
func (l *Loaded) With(ch Changes) (*Loaded, error) {
	rows := Settings()
	refused, err := ch.check(rows)
	read := l.read
	read.stored = Stored{Name: l.read.stored.Name, Values: make(map[string]json.RawMessage)}
	maps.Copy(read.stored.Values, l.read.stored.Values)
	for _, key := range ch.Reset {
		delete(read.stored.Values, key)
	}
	var set []string
	for key, value := range ch.Set {
		if !refused[key] {
			read.stored.Values[key] = value
			set = append(set, key)
		}
	}
	next, buildErr := l.rebuild(rows, read, set)
	if err := errors.Join(err, buildErr); err != nil {
		return nil, err
	}
	return next, nil
}

// WithStored returns the configuration with all stored settings replaced, as
// for the undoing of a change.
func (l *Loaded) WithStored(values map[string]json.RawMessage) (*Loaded, error) {
	read := l.read
	read.stored = Stored{Name: l.read.stored.Name, Values: maps.Clone(values)}
	return l.rebuild(Settings(), read, nil)
}

// rebuild makes a configuration from what was read, and brings the values of
// the changed keys into canonical form.
func (l *Loaded) rebuild(rows []Setting, read reading, changed []string) (*Loaded, error) {
	// Whoever sends changes names settings by key and knows of no file.
	file, warnings, err := Stored{Values: read.stored.Values}.layer(rows)
	next, buildErr := build(rows, l.keys, false, read.env, read.flags, file)
	if err := errors.Join(err, buildErr); err != nil {
		return nil, err
	}
	for _, key := range changed {
		read.stored.Values[key] = jsonOf(row(rows, key), next.Config)
	}
	next.sources, next.read = l.sources, read
	next.Warnings = append(append(slices.Clone(read.warnings), warnings...), next.Warnings...)
	return next, nil
}

// check reports keys that cannot be changed this way.
func (ch Changes) check(rows []Setting) (refused map[string]bool, err error) {
	var problems []error
	refused = make(map[string]bool)
	refuse := func(key, fix string) {
		refused[key] = true
		problems = append(problems, &Problem{Key: key, Name: "setting", Value: key, Fix: fix})
	}
	keys := append(slices.Sorted(maps.Keys(ch.Set)), ch.Reset...)
	for _, key := range keys {
		i := slices.IndexFunc(rows, func(s Setting) bool { return s.Key == key })
		switch {
		case i < 0:
			refuse(key, "there is no such setting"+meant(key, rows))
		case !rows[i].Live:
			refuse(key, "it takes a restart: use "+rows[i].name(FromFlag))
		}
	}
	for _, key := range ch.Reset {
		if _, both := ch.Set[key]; both {
			refuse(key, "either set it or reset it")
		}
	}
	return refused, errors.Join(problems...)
}

// A Change is one setting that differs between two configurations.
type Change struct {
	Key                  string
	From, To             string // as Setting.Text has them: secrets are replaced
	FromSource, ToSource Source
	Live                 bool // it applies without a restart
}

// Diff lists what differs in next, in the order of the table: values, and
// where they come from. A file whose path stays and whose content changes is
// a change as well.
func (l *Loaded) Diff(next *Loaded) []Change {
	var changes []Change
	for _, s := range Settings() {
		c := Change{
			Key: s.Key, From: s.Text(l.Config), To: s.Text(next.Config),
			FromSource: l.Origins[s.Key], ToSource: next.Origins[s.Key], Live: s.Live,
		}
		// The texts that are shown hide what differs between two secrets.
		same := s.bind.text(l.Config) == s.bind.text(next.Config) && c.FromSource == c.ToSource
		if old, ok := s.bind.field(l.Config).(*File); ok {
			same = same && bytes.Equal(old.Content, s.bind.field(next.Config).(*File).Content)
		}
		if !same {
			changes = append(changes, c)
		}
	}
	return changes
}
