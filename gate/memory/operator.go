package memory

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/andreimerlescu/concert/gate"
	"github.com/andreimerlescu/concert/persist"
)

// auditKept is how many acts are kept for each room.
const auditKept = 200

// kept is what operators decided about a room, as rooms.json has it. It is
// replaced, never changed.
type kept struct {
	Room        gate.Room      `json:"room"`
	Paused      bool           `json:"paused"`
	Epoch       int64          `json:"epoch"` // Unix ms when the line began
	CreatedAt   time.Time      `json:"created_at"`
	UpdatedAt   time.Time      `json:"updated_at"`
	NextMessage int            `json:"next_message"`
	Messages    []gate.Message `json:"messages"`
	Audit       []persist.Act  `json:"audit"` // the latest last
}

// note adds an act to the audit.
func (k *kept) note(now time.Time, by persist.By, what, text string, changes ...persist.ActChange) {
	act := persist.Act{At: now.UTC(), By: by, What: what, Note: text, Changes: changes}
	k.Audit = append(slices.Clone(k.Audit[max(0, len(k.Audit)-auditKept+1):]), act)
	k.UpdatedAt = now.UTC()
}

// changeLocked has an operator act on a room: decide works on a copy, which is
// saved and then put in force by enforce. Called with operators held.
func (s *Store) changeLocked(id string, decide func(k *kept) error, enforce func(r *room, k kept)) (kept, error) {
	k, ok := s.kept[id]
	if !ok {
		return kept{}, gate.ErrNoRoom
	}
	if err := decide(&k); err != nil {
		return kept{}, err
	}
	all := maps.Clone(s.kept)
	all[id] = k
	if err := s.keepLocked(all); err != nil {
		return kept{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed = true
	if enforce != nil {
		enforce(s.rooms[id], k)
	}
	return k, nil
}

// keepLocked saves what was decided, and goes by it from then on. Called with
// operators held.
func (s *Store) keepLocked(all map[string]kept) error {
	s.mu.Lock()
	frozen := s.frozen
	s.mu.Unlock()
	if frozen {
		return gate.ErrAway
	}
	if s.dir != nil {
		if err := s.dir.SaveRooms(all); err != nil {
			return err
		}
	}
	s.kept = all
	return nil
}

// Create implements gate.Store.
func (s *Store) Create(_ context.Context, now time.Time, by persist.By, r gate.Room) (gate.Live, error) {
	r = r.Complete()
	if err := r.Check(); err != nil {
		return gate.Live{}, err
	}
	s.operators.Lock()
	defer s.operators.Unlock()
	if _, there := s.kept[r.ID]; there {
		return gate.Live{}, gate.ErrRoomExists
	}
	if len(s.kept) >= gate.MaxRooms {
		return gate.Live{}, gate.ErrFull
	}
	k := kept{Room: r, Epoch: now.UnixMilli(), CreatedAt: now.UTC()}
	k.note(now, by, "create", "", gate.Changes(gate.Room{}, r)...)
	all := maps.Clone(s.kept)
	all[r.ID] = k
	if err := s.keepLocked(all); err != nil {
		return gate.Live{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rooms[r.ID] = newRoom(r, k.Epoch, now)
	s.changed = true
	return s.liveLocked(r.ID, k, now), nil
}

// Update implements gate.Store.
func (s *Store) Update(_ context.Context, now time.Time, by persist.By, id string, p gate.Patch) (gate.Live, error) {
	return s.operate(now, id, func(k *kept) error {
		var changes []persist.ActChange
		k.Room, changes = p.Apply(k.Room)
		if len(changes) > 0 {
			k.note(now, by, "update", "", changes...)
		}
		return k.Room.Check()
	}, func(r *room, k kept) {
		r.advance(now)
		r.configure(k.Room, now)
	})
}

// Act implements gate.Store.
func (s *Store) Act(_ context.Context, now time.Time, by persist.By, id string, a gate.Action) (gate.Live, error) {
	return s.operate(now, id, func(k *kept) error {
		if err := a.Check(); err != nil {
			return err
		}
		k.Paused, k.Epoch = a.Decide(k.Paused, k.Epoch, now)
		k.note(now, by, string(a), "")
		return nil
	}, func(r *room, k kept) {
		r.advance(now)
		if a == gate.Reset {
			*r = *newRoom(k.Room, k.Epoch, now)
		}
		if r.paused = k.Paused; a == gate.OpenGates {
			r.flood = r.tickets.issued()
		}
		r.step(now.UnixNano())
	})
}

// operate is changeLocked for an operator who wants to see the room after it.
func (s *Store) operate(now time.Time, id string, decide func(*kept) error, enforce func(*room, kept)) (gate.Live, error) {
	s.operators.Lock()
	defer s.operators.Unlock()
	k, err := s.changeLocked(id, decide, enforce)
	if err != nil {
		return gate.Live{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.liveLocked(id, k, now), nil
}

// Delete implements gate.Store.
func (s *Store) Delete(_ context.Context, _ time.Time, id string) error {
	s.operators.Lock()
	defer s.operators.Unlock()
	if _, there := s.kept[id]; !there {
		return gate.ErrNoRoom
	}
	all := maps.Clone(s.kept)
	delete(all, id)
	if err := s.keepLocked(all); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.rooms, id)
	s.changed = true
	return nil
}

// AddMessage implements gate.Store.
func (s *Store) AddMessage(_ context.Context, now time.Time, by persist.By, id string, m gate.Message) (gate.Message, error) {
	s.operators.Lock()
	defer s.operators.Unlock()
	_, err := s.changeLocked(id, func(k *kept) error {
		if err := m.Check(); err != nil {
			return err
		}
		if len(k.Messages) >= gate.MaxMessages {
			return gate.ErrFull
		}
		k.NextMessage++
		m.ID, m.CreatedAt, m.UpdatedAt = strconv.Itoa(k.NextMessage), now.UTC(), now.UTC()
		k.Messages = append(slices.Clone(k.Messages), m)
		k.note(now, by, "add message", m.ID, persist.ActChange{Key: "text", To: m.Text})
		return nil
	}, nil)
	return m, err
}

// UpdateMessage implements gate.Store.
func (s *Store) UpdateMessage(_ context.Context, now time.Time, by persist.By, id, message string, p gate.MessagePatch) (m gate.Message, err error) {
	s.operators.Lock()
	defer s.operators.Unlock()
	_, err = s.changeLocked(id, func(k *kept) error {
		i := k.message(message)
		if i < 0 {
			return gate.ErrNoMessage
		}
		before := k.Messages[i]
		m = p.Apply(before)
		if err := m.Check(); err != nil {
			return err
		}
		m.UpdatedAt = now.UTC()
		k.Messages = slices.Clone(k.Messages)
		k.Messages[i] = m
		k.note(now, by, "change message", message, gate.MessageChanges(before, m)...)
		return nil
	}, nil)
	return m, err
}

// DeleteMessage implements gate.Store.
func (s *Store) DeleteMessage(_ context.Context, now time.Time, by persist.By, id, message string) error {
	s.operators.Lock()
	defer s.operators.Unlock()
	_, err := s.changeLocked(id, func(k *kept) error {
		i := k.message(message)
		if i < 0 {
			return gate.ErrNoMessage
		}
		k.note(now, by, "delete message", message, persist.ActChange{Key: "text", From: k.Messages[i].Text})
		k.Messages = slices.Delete(slices.Clone(k.Messages), i, i+1)
		return nil
	}, nil)
	return err
}

// message is the place of a message in the list; -1 when there is none.
func (k *kept) message(id string) int {
	return slices.IndexFunc(k.Messages, func(m gate.Message) bool { return m.ID == id })
}
