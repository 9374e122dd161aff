package persist

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"sync"
	"time"
)

const (
	settingsVersion = 1
	maxSettings     = 4 << 20 // bytes
)

// ErrEdited is the error of saving over a settings file that somebody edited
// while Concert ran.
var ErrEdited = errors.New("the file was edited since it was read: send SIGHUP to take the edit up, then try again")

// Settings is settings.json: the settings that operators changed, by key, and
// as they were before the last change. What the values mean is up to package
// config.
type Settings struct {
	dir *Dir

	mu    sync.Mutex // guards the fields below
	now   settingsState
	past  *settingsState // nil: nothing to undo
	text  []byte         // of the file, as far as known; nil when there is none
	tried []byte         // what the last Save wrote, also when it failed late
}

type settingsState struct {
	Updated time.Time                  `json:"updated,omitzero"`
	Values  map[string]json.RawMessage `json:"settings"`
}

// settingsFile is the form on disk.
type settingsFile struct {
	Version int `json:"version"`
	settingsState
	Previous *settingsState `json:"previous,omitempty"`
}

// Settings opens settings.json. The error names the file and what to do.
func (d *Dir) Settings() (*Settings, error) {
	s := &Settings{dir: d}
	return s, s.Read()
}

// ReadSettings reads the settings of a directory that may be in use, and
// changes nothing.
func ReadSettings(dir string) (*Settings, error) { return (&Dir{path: dir}).Settings() }

// Read reads the file again, as after it was edited. On an error, everything
// stays as it is.
func (s *Settings) Read() error {
	if s.dir.path == "" {
		return nil
	}
	text, _, err := s.dir.readFile(settingsName, maxSettings)
	if err != nil {
		return fmt.Errorf("read %s: %w: let this user read it, or choose another directory with -data-dir", s.Path(), err)
	}
	file, err := parseSettings(text)
	if err != nil {
		return fmt.Errorf("%s: %w: correct the file, or delete it to go by flags and environment alone", s.Path(), err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now, s.past, s.text = file.settingsState, file.Previous, text
	return nil
}

// parseSettings reads the form on disk; nil is the empty one.
func parseSettings(text []byte) (settingsFile, error) {
	var file settingsFile
	if text == nil {
		return file, nil
	}
	if err := strictJSON(text, &file); err != nil {
		return file, err
	}
	if err := uniqueKeys(text); err != nil {
		return file, err
	}
	if err := checkVersion(file.Version, settingsVersion); err != nil {
		return file, err
	}
	if file.Values == nil {
		return file, errors.New(`it has no "settings"`)
	}
	return file, nil
}

// Path is the file's path, "" when everything stays in memory.
func (s *Settings) Path() string {
	if s.dir.path == "" {
		return ""
	}
	return filepath.Clean(s.dir.file(settingsName))
}

// Values returns the settings by key. The caller owns the map.
func (s *Settings) Values() map[string]json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return clone(s.now.Values)
}

// Updated is when they were last changed; zero for never.
func (s *Settings) Updated() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now.Updated
}

// Previous returns the settings before the last change, which are what undoing
// it means to Save. ok is false when there was none.
func (s *Settings) Previous() (values map[string]json.RawMessage, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.past == nil {
		return nil, false
	}
	return clone(s.past.Values), true
}

// Save replaces all settings. They are on disk when it returns nil; otherwise
// nothing has changed. The error is ErrEdited when somebody else changed the
// file.
func (s *Settings) Save(values map[string]json.RawMessage, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	past := s.now
	past.Values = clone(past.Values)
	file := settingsFile{
		Version:       settingsVersion,
		settingsState: settingsState{now.UTC().Truncate(time.Second), clone(values)},
		Previous:      &past,
	}
	text, err := json.MarshalIndent(file, "", "  ")
	if err != nil {
		return fmt.Errorf("save %s: %w", s.Path(), err)
	}
	text = append(text, '\n')
	if err := s.unedited(); err != nil {
		return err
	}
	s.tried = text
	err = s.dir.replace(settingsName, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
	if err != nil {
		return err
	}
	s.now, s.past, s.text = file.settingsState, file.Previous, text
	return nil
}

// unedited makes sure that no edit gets lost. A file that is gone is no edit:
// what it held is still known. Called with mu held.
func (s *Settings) unedited() error {
	text, ok, err := s.dir.readFile(settingsName, maxSettings)
	if err != nil {
		return fmt.Errorf("save %s: look at the present file: %w", s.Path(), err)
	}
	if ok && !bytes.Equal(text, s.text) && !bytes.Equal(text, s.tried) {
		return fmt.Errorf("save %s: %w", s.Path(), ErrEdited)
	}
	return nil
}

// clone copies the map, and makes nil an empty one.
func clone(values map[string]json.RawMessage) map[string]json.RawMessage {
	if values == nil {
		return map[string]json.RawMessage{}
	}
	return maps.Clone(values)
}
