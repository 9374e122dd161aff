package persist

import (
	"encoding/json"
	"fmt"
	"io"
	"net/netip"
	"time"
)

const (
	sessionsVersion = 1
	maxSessions     = 4 << 20 // bytes
)

// SavedSession is a sign-in to the operator portal that is in force. It is no
// credential: the cookie is signed with a key that is not in the file.
type SavedSession struct {
	ID     []byte     `json:"id"`
	Key    []byte     `json:"key"` // which key signed it
	Role   string     `json:"role"`
	Client netip.Addr `json:"client"`
	Agent  string     `json:"agent,omitempty"`
	Began  time.Time  `json:"began"`
	Until  time.Time  `json:"until"`
}

// sessionsFile is the form on disk.
type sessionsFile struct {
	Version  int            `json:"version"`
	Sessions []SavedSession `json:"sessions"`
}

// Sessions returns the sessions that were saved last; none is no error.
func (d *Dir) Sessions() ([]SavedSession, error) {
	text, ok, err := d.readFile(sessionsName, maxSessions)
	if err != nil || !ok {
		return nil, err
	}
	var file sessionsFile
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("read %s: %w", d.file(sessionsName), err)
	}
	if err := checkVersion(file.Version, sessionsVersion); err != nil {
		return nil, fmt.Errorf("read %s: %w", d.file(sessionsName), err)
	}
	return file.Sessions, nil
}

// SaveSessions replaces the saved sessions.
func (d *Dir) SaveSessions(all []SavedSession) error {
	return d.replace(sessionsName, func(w io.Writer) error {
		return json.NewEncoder(w).Encode(sessionsFile{sessionsVersion, all})
	})
}
