package persist

import (
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
)

// Fault is something that cannot be saved at present.
type Fault struct {
	What     string // the name of the file, or "directory"
	Since    time.Time
	Failures int // attempts in a row
	Err      error
}

// health remembers what fails, and logs only what changes: a full disk must
// not fill the log.
type health struct {
	log *slog.Logger

	mu     sync.Mutex // guards the fields below
	faults map[string]Fault
}

// note takes down the outcome of a write; nil ends a fault.
func (h *health) note(what string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f, failing := h.faults[what]
	switch {
	case err == nil && failing:
		delete(h.faults, what)
		h.log.Info("saving works again", "what", what, "failed_for", time.Since(f.Since).Round(time.Second))
	case err == nil:
	case failing:
		f.Failures, f.Err = f.Failures+1, err
		h.faults[what] = f
	default:
		if h.faults == nil {
			h.faults = make(map[string]Fault)
		}
		h.faults[what] = Fault{What: what, Since: time.Now(), Failures: 1, Err: err}
		h.log.Error("cannot save; Concert goes on without", "what", what, "error", err)
	}
	if what != "directory" && err == nil {
		delete(h.faults, "directory") // whatever was saved, the directory is fine
	}
}

// spacious takes down that a file could be written anew: so can be what was
// refused, and nobody tries by itself.
func (h *health) spacious() {
	h.mu.Lock()
	f, failing := h.faults[settingsName]
	h.mu.Unlock()
	if failing && !errors.Is(f.Err, ErrEdited) {
		h.note(settingsName, nil)
	}
}

// Faults returns what cannot be saved at present, by name; nil when all is
// well.
func (d *Dir) Faults() []Fault {
	d.health.mu.Lock()
	defer d.health.mu.Unlock()
	var faults []Fault
	for _, f := range d.health.faults {
		faults = append(faults, f)
	}
	slices.SortFunc(faults, func(a, b Fault) int { return strings.Compare(a.What, b.What) })
	return faults
}
