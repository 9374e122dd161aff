package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/andreimerlescu/concert/abuse"
	"github.com/andreimerlescu/concert/certs"
	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/handover"
	"github.com/andreimerlescu/concert/persist"
	"github.com/andreimerlescu/concert/portal"
)

// legacy is what a process leaves to its successor: one line of JSON with the
// fields below, and then the line in its form on disk.
type legacy struct {
	Bans     []abuse.Ban                `json:"bans"`
	Settings map[string]json.RawMessage `json:"settings,omitempty"` // only those that are nowhere else
	Keys     [][]byte                   `json:"keys,omitempty"`     // that nobody set
	Tickets  certs.Tickets              `json:"tls_tickets"`
	Grants   []savedGrant               `json:"grants,omitempty"`
	Sales    []savedSale                `json:"sales,omitempty"`
	Gate     *gateLegacy                `json:"gate,omitempty"`
	Portal   *portal.Left               `json:"portal,omitempty"`
	Rooms    map[string][]byte          `json:"rooms,omitempty"` // lines in their form on disk
	line     persist.SavedLine
	rooms    map[string]persist.SavedLine
}

// readLegacy returns nil when there is none.
func readLegacy(state []byte) (*legacy, error) {
	if state == nil {
		return nil, nil
	}
	var l legacy
	head, rest, _ := bytes.Cut(state, []byte("\n"))
	if err := json.Unmarshal(head, &l); err != nil {
		return nil, fmt.Errorf("read what the predecessor left: %w", err)
	}
	var err error
	if l.line, err = persist.ReadLine(rest); err != nil {
		return nil, fmt.Errorf("read the line that the predecessor left: %w", err)
	}
	l.rooms = make(map[string]persist.SavedLine, len(l.Rooms))
	for id, text := range l.Rooms {
		if l.rooms[id], err = persist.ReadLine(text); err != nil {
			return nil, fmt.Errorf("read the line of room %q that the predecessor left: %w", id, err)
		}
	}
	return &l, nil
}

// leave is the other side of readLegacy. The process must be frozen.
func (a *App) leave(now time.Time) ([]byte, error) {
	l := legacy{Bans: a.abuse.Snapshot(now), Tickets: a.certs.Tickets(), line: persist.SavedLine{Clean: true}}
	if a.loaded != nil {
		l.Keys = a.loaded.OwnKeys()
	}
	a.leaveMarks(&l, now)
	if a.portal != nil {
		l.Portal = a.portal.Leave()
	}
	if a.data.Path() == "" && a.settings != nil {
		l.Settings = a.settings.Values()
	}
	var err error
	if a.gate != nil {
		if l.Gate, err = a.gate.leave(now); err != nil {
			return nil, err
		}
	}
	if l.line.Snapshot, err = a.takeLine(); err != nil {
		return nil, fmt.Errorf("take the line: %w", err)
	}
	if l.Rooms, err = a.leaveRooms(now); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.NewEncoder(&out).Encode(l); err != nil {
		return nil, err
	}
	if err := persist.WriteLine(&out, l.line); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// leaveRooms are the lines of the rooms in this process.
func (a *App) leaveRooms(now time.Time) (map[string][]byte, error) {
	lines := make(map[string][]byte)
	for _, r := range a.inline.all() {
		if r.shared != nil {
			continue // it stays where it is
		}
		s, err := r.line.Snapshot(context.Background(), now)
		var out bytes.Buffer
		if err == nil {
			err = persist.WriteLine(&out, persist.SavedLine{Snapshot: s, Clean: true})
		}
		if err != nil {
			return nil, fmt.Errorf("take the line of room %q: %w", r.id, err)
		}
		lines[r.id] = out.Bytes()
	}
	return lines, nil
}

// Inherit reads the sources of a configuration once more, after a predecessor
// has stopped changing them, and adds what it had in memory only: changes, and
// the keys of tickets and passes.
func Inherit(loaded *config.Loaded, handed handover.Handed) (*config.Loaded, error) {
	kept, err := readLegacy(handed.State)
	if err != nil || kept == nil {
		return loaded, err
	}
	if loaded, err = loaded.Succeed(kept.Keys); err != nil || len(kept.Settings) == 0 {
		return loaded, err
	}
	return loaded.WithStored(kept.Settings)
}
