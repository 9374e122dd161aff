package memory

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/gate"
	"github.com/andreimerlescu/concert/persist"
)

// house is a data directory and the store that has it.
type house struct {
	*testing.T
	path string
	log  bytes.Buffer
	dir  *persist.Dir
	*Store
}

// start opens the directory as a process does that starts at the time.
func (h *house) start(at time.Time) {
	h.Helper()
	if h.dir != nil {
		if err := h.dir.Close(); err != nil {
			h.Fatal(err)
		}
	}
	log := slog.New(slog.NewTextHandler(&h.log, nil))
	var err error
	if h.dir, err = persist.Open(h.path, persist.Options{Log: log}); err != nil {
		h.Fatal(err)
	}
	if h.Store, err = New(Options{Dir: h.dir, Start: at, Log: log}); err != nil {
		h.Fatal(err)
	}
}

func newHouse(t *testing.T, change func(*gate.Room)) *house {
	h := &house{T: t, path: t.TempDir()}
	t.Cleanup(func() { _ = h.dir.Close() }) // a test may have closed it
	h.start(noon)
	r := gate.DefaultRoom()
	r.ID, r.Inflow, r.IntervalSec, r.Burst = "demo", 1, 10, 1
	if change != nil {
		change(&r)
	}
	if _, err := h.Create(t.Context(), noon, operator, r); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *house) join(now time.Time) gate.Status {
	h.Helper()
	st, err := h.Join(h.Context(), now, "demo")
	if err != nil {
		h.Fatal(err)
	}
	return st
}

func (h *house) live(now time.Time) gate.Live {
	h.Helper()
	l, err := h.Room(h.Context(), now, "demo")
	if err != nil {
		h.Fatal(err)
	}
	return l
}
