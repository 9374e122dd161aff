package persist

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"sync"
	"time"
)

const (
	auditKept   = 500      // acts in memory
	auditRotate = 16 << 20 // bytes after which audit.jsonl becomes audit.jsonl.1
	auditTail   = 1 << 20  // bytes read of an earlier process's
)

// By is who does something.
type By struct {
	Who    string `json:"who"`              // "token", "signal", or the role and the beginning of a portal session's id
	Client string `json:"client,omitempty"` // the address it came from; "" for none
}

// InWords is for logs, and for who ordered a ban.
func (b By) InWords() string {
	if b.Client == "" {
		return b.Who
	}
	return "admin " + b.Who + " from " + b.Client
}

// Act is something an operator did.
type Act struct {
	At time.Time `json:"at"`
	By
	What    string      `json:"what"` // "settings", "undo", "ban", …
	Changes []ActChange `json:"changes,omitempty"`
	Note    string      `json:"note,omitempty"`
}

// ActChange is one setting that an Act changed. The texts hold no secrets.
type ActChange struct {
	Key  string `json:"key"`
	From string `json:"from"`
	To   string `json:"to"`
}

// audit is audit.jsonl, one act a line.
type audit struct {
	mu     sync.Mutex // guards the fields below
	file   appendFile
	recent []Act  // the newest last
	unsent []byte // lines that are not on disk yet
}

// load reads the end of the file. What cannot be read is left out: the acts
// are for people, and the file itself is not touched.
func (a *audit) load(d *Dir) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.file = appendFile{dir: d, name: auditName, make: true}
	for line := range bytes.Lines(tail(d.file(auditName), auditTail)) {
		var act Act
		if json.Unmarshal(line, &act) == nil && !act.At.IsZero() {
			a.keep(act)
		}
	}
}

// tail returns the last bytes of a file, from the beginning of a line on.
func tail(path string, most int64) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	skip := max(0, info.Size()-most)
	text := make([]byte, info.Size()-skip)
	n, _ := f.ReadAt(text, skip) // what there is of it
	text = text[:n]
	if skip > 0 {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	return text
}

func (a *audit) keep(act Act) {
	a.recent = append(a.recent, act)
	if len(a.recent) > auditKept {
		a.recent = slices.Delete(a.recent, 0, len(a.recent)-auditKept)
	}
}

// Audit takes an act down in audit.jsonl. When it cannot be written now it is
// kept in memory and goes ahead of the next one; the error says so.
func (d *Dir) Audit(act Act) error {
	line, err := json.Marshal(act)
	if err != nil {
		return err
	}
	a := &d.audit
	a.mu.Lock()
	defer a.mu.Unlock()
	a.keep(act)
	if d.path == "" {
		return nil
	}
	if len(a.unsent) < auditTail { // a disk that stays full must not fill the memory
		a.unsent = append(append(a.unsent, line...), '\n')
	}
	err = a.send()
	d.health.note(auditName, err)
	return err
}

// send writes what is not written. Called with mu held.
func (a *audit) send() error {
	if a.file.size > auditRotate || a.file.lost() {
		long := a.file.size > auditRotate
		if err := a.file.close(); err != nil {
			return err
		}
		if long {
			// A file that cannot be renamed goes on growing.
			_ = os.Rename(a.file.dir.file(auditName), a.file.dir.file(auditName+".1"))
		}
	}
	if a.file.f == nil {
		if err := a.file.open(); err != nil {
			return err
		}
		a.unsent = append(a.lineEnd(), a.unsent...)
	}
	if err := a.file.append(a.unsent); err != nil {
		// Opened again, it shows what there is of it; a line that stands
		// there twice is better than one that is missing.
		return errors.Join(err, a.file.close())
	}
	a.unsent = nil
	return nil
}

// lineEnd returns what is missing from the last line of the file: a crash may
// have torn it.
func (a *audit) lineEnd() []byte {
	last := []byte{'\n'}
	if a.file.size > 0 {
		_, _ = a.file.f.ReadAt(last, a.file.size-1) // if it fails, append will
	}
	if last[0] == '\n' {
		return nil
	}
	return []byte{'\n'}
}

// Acts returns the latest acts, newest first, at most n.
func (d *Dir) Acts(n int) []Act {
	d.audit.mu.Lock()
	defer d.audit.mu.Unlock()
	acts := slices.Clone(d.audit.recent[max(0, len(d.audit.recent)-n):])
	slices.Reverse(acts)
	return acts
}
