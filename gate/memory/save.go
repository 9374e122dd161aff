package memory

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"time"
)

const (
	saveEvery   = time.Second
	saveShare   = 50 // bounds the share of the time that saving takes
	sweepEvery  = 10 * time.Second
	ticketBytes = 20
)

// stateFile is rooms.state.
type stateFile struct {
	SavedAt time.Time            `json:"saved_at"`
	Clean   bool                 `json:"clean"` // nothing happened after it
	Rooms   map[string]lineState `json:"rooms"`
	Spent   map[string]time.Time `json:"spent"`
}

// lineState is a room's line.
type lineState struct {
	Epoch    int64  `json:"epoch"`
	Base     uint64 `json:"base"`
	Tickets  []byte `json:"tickets"` // ticketBytes each
	Runs     []run  `json:"runs"`
	Admitted uint64 `json:"admitted"`
	Flood    uint64 `json:"flood"`
	Permits  uint64 `json:"permits"`
	Part     uint64 `json:"part"`
	Tally    tally  `json:"tally"`
}

// Run forgets what is over and saves what changes, until ctx ends, and then all
// of it.
func (s *Store) Run(ctx context.Context) {
	pause := saveEvery
	for {
		select {
		case <-ctx.Done():
			if err := s.save(time.Now(), true); err != nil {
				s.log.Error("the rooms' lines are not saved; visitors join again after the next start", "error", err)
			}
			return
		case <-time.After(pause):
		}
		now := time.Now()
		s.sweep(now)
		_ = s.save(now, false) // the directory has taken it down as a fault
		pause = max(saveEvery, saveShare*time.Since(now))
	}
}

// save writes the lines, if anything has changed.
func (s *Store) save(now time.Time, clean bool) error {
	if s.dir == nil || s.dir.Path() == "" {
		return nil
	}
	s.mu.Lock()
	if !s.changed && !clean || s.frozen {
		s.mu.Unlock()
		return nil
	}
	s.changed = false
	f := s.takeLocked(now, clean)
	s.mu.Unlock()
	err := s.dir.SaveRoomState(f)
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.changed = true // to be tried again
	}
	return err
}

// takeLocked copies the lines. Called with mu held.
func (s *Store) takeLocked(now time.Time, clean bool) stateFile {
	f := stateFile{SavedAt: now.UTC(), Clean: clean, Rooms: map[string]lineState{}, Spent: maps.Clone(s.spent)}
	for id, r := range s.rooms {
		r.advance(now)
		f.Rooms[id] = lineState{
			Epoch: r.epoch, Base: r.tickets.base, Tickets: encodeTickets(r.tickets.list), Runs: append([]run(nil), r.tickets.runs...),
			Admitted: r.admitted, Flood: r.flood, Permits: r.meter.permits, Part: r.meter.part, Tally: r.tally,
		}
	}
	return f
}

// sweep forgets tickets and token ids that are over.
func (s *Store) sweep(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.swept) < sweepEvery {
		return
	}
	s.swept = now
	maps.DeleteFunc(s.spent, func(_ string, until time.Time) bool { return !until.After(now) })
	sec := second(now.UnixNano())
	for _, r := range s.rooms {
		r.advance(now)
		r.tickets.forget(func(n uint64, t *ticket) bool { return r.over(n, t, sec) })
	}
}

// legacy is what Freeze leaves.
type legacy struct {
	Rooms map[string]kept `json:"rooms"`
	State stateFile       `json:"state"`
}

// Freeze has the store answer gate.ErrAway from now on, and returns what
// another process goes on from.
func (s *Store) Freeze(now time.Time) ([]byte, error) {
	s.operators.Lock()
	defer s.operators.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frozen = true
	return json.Marshal(legacy{s.kept, s.takeLocked(now, true)})
}

// Thaw undoes Freeze.
func (s *Store) Thaw() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frozen = false
}

// inherit goes on from what another process left.
func (s *Store) inherit(left []byte, now time.Time) error {
	var l legacy
	if err := json.Unmarshal(left, &l); err != nil {
		return fmt.Errorf("read the rooms that the predecessor left: %w", err)
	}
	if err := s.open(l.Rooms, now); err != nil {
		return err
	}
	s.restore(l.State, now)
	s.changed = true
	return nil
}

// load reads both files.
func (s *Store) load(now time.Time) error {
	var all map[string]kept
	if ok, err := s.dir.LoadRooms(&all); err != nil || !ok {
		return err
	}
	if err := s.open(all, now); err != nil {
		return s.dir.BadRooms(err)
	}
	var state stateFile
	ok, err := s.dir.LoadRoomState(&state)
	if err != nil {
		s.log.Error("the lines of the rooms begin anew", "error", err)
	}
	if ok {
		s.restore(state, now)
	}
	return nil
}

// open makes the rooms that operators decided on, each with an empty line.
func (s *Store) open(all map[string]kept, now time.Time) error {
	for id, k := range all {
		if k.Room.ID != id {
			return fmt.Errorf("room %q calls itself %q", id, k.Room.ID)
		}
		if err := k.Room.Check(); err != nil {
			return fmt.Errorf("room %q: %w", id, err)
		}
		r := newRoom(k.Room, k.Epoch, now)
		r.paused = k.Paused
		s.rooms[id], s.kept[id] = r, k
	}
	return nil
}

// restore goes on with saved lines.
func (s *Store) restore(f stateFile, now time.Time) {
	for id, r := range s.rooms {
		l, ok := f.Rooms[id]
		if !ok || l.Epoch != r.epoch || l.Admitted > l.Base+uint64(len(l.Tickets)/ticketBytes) {
			continue // made or reset after the save
		}
		r.tickets = tickets{base: l.Base, list: decodeTickets(l.Tickets, !f.Clean), runs: l.Runs}
		r.admitted, r.flood, r.tally = l.Admitted, l.Flood, l.Tally
		r.meter.permits, r.meter.part = l.Permits, min(l.Part, r.meter.interval-1)
		r.meter.clamp()
		if r.set.Cap > 0 {
			r.recount(second(now.UnixNano()))
		}
	}
	if f.Spent != nil {
		s.spent = f.Spent
	}
}

func encodeTickets(list []ticket) []byte {
	var out bytes.Buffer
	out.Grow(len(list) * ticketBytes)
	b := make([]byte, 0, ticketBytes)
	for i := range list {
		t := &list[i]
		b = b[:0]
		for _, v := range [...]uint32{t.turn, t.seen, t.used, t.seat, t.flags} {
			b = binary.LittleEndian.AppendUint32(b, v)
		}
		out.Write(b)
	}
	return out.Bytes()
}

// decodeTickets is the other side. open says that tokens may be out that are
// later than the turns.
func decodeTickets(b []byte, open bool) []ticket {
	list := make([]ticket, len(b)/ticketBytes)
	for i := range list {
		word := func(n int) uint32 { return binary.LittleEndian.Uint32(b[i*ticketBytes+4*n:]) }
		list[i] = ticket{turn: word(0), seen: word(1), used: word(2), seat: word(3), flags: word(4)}
		if open {
			list[i].flags |= restored
		}
	}
	return list
}
