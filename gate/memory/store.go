package memory

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/andreimerlescu/concert/gate"
	"github.com/andreimerlescu/concert/persist"
)

// Options are what a Store is made of.
type Options struct {
	// Dir keeps what outlives the process; nil keeps everything in memory.
	Dir *persist.Dir
	// Start tells the tickets of this process from those of earlier ones.
	Start time.Time
	// Left is what Freeze of another process returned.
	Left []byte
	// Log gets what operators should know; nil discards it.
	Log *slog.Logger
}

// Store keeps rooms in memory. Use [New].
type Store struct {
	dir *persist.Dir
	log *slog.Logger
	run int64

	// operators has operators act one after the other, and guards kept.
	operators sync.Mutex
	kept      map[string]kept

	mu      sync.Mutex // guards the fields below
	rooms   map[string]*room
	spent   map[string]time.Time // ids of used tokens, and when they may be forgotten
	swept   time.Time
	changed bool // since the last save
	frozen  bool // another process has the rooms
}

var _ gate.Store = (*Store)(nil)

// New makes a store, with the rooms that the directory holds. The error says
// which file cannot be read and what to do about it.
func New(o Options) (*Store, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Store{dir: o.Dir, log: o.Log, run: o.Start.UnixMilli(),
		kept: map[string]kept{}, rooms: map[string]*room{}, spent: map[string]time.Time{}}
	if o.Left != nil {
		return s, s.inherit(o.Left, o.Start)
	}
	if s.dir != nil {
		return s, s.load(o.Start)
	}
	return s, nil
}

// visit calls do with a room's line, brought up to now.
func (s *Store) visit(now time.Time, id string, do func(r *room) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.rooms[id]
	switch {
	case s.frozen:
		return gate.ErrAway
	case r == nil:
		return gate.ErrNoRoom
	}
	r.advance(now)
	s.changed = true
	return do(r)
}

// liveLocked is a room for operators. Called with mu held.
func (s *Store) liveLocked(id string, k kept, now time.Time) gate.Live {
	r := s.rooms[id]
	r.advance(now)
	return gate.Live{
		Room: r.set, State: r.state(), Issued: r.tickets.issued(), Admitted: r.admitted,
		QueueLength: r.waiting(), PassedTotal: r.tally.Passed, OnSite: r.seats.taken,
		CreatedAt: k.CreatedAt, UpdatedAt: k.UpdatedAt,
	}
}

// Rooms implements gate.Store.
func (s *Store) Rooms(_ context.Context, now time.Time) ([]gate.Live, error) {
	s.operators.Lock()
	defer s.operators.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []gate.Live{}
	for _, id := range slices.Sorted(maps.Keys(s.kept)) {
		all = append(all, s.liveLocked(id, s.kept[id], now))
	}
	return all, nil
}

// Room implements gate.Store.
func (s *Store) Room(_ context.Context, now time.Time, id string) (gate.Live, error) {
	s.operators.Lock()
	defer s.operators.Unlock()
	k, ok := s.kept[id]
	if !ok {
		return gate.Live{}, gate.ErrNoRoom
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.liveLocked(id, k, now), nil
}

// Stats implements gate.Store.
func (s *Store) Stats(_ context.Context, now time.Time, id string) (stats gate.Stats, err error) {
	err = s.visit(now, id, func(r *room) error {
		stats = r.tally.stats(now)
		return nil
	})
	return stats, err
}

// Audit implements gate.Store.
func (s *Store) Audit(_ context.Context, id string, n int) ([]persist.Act, error) {
	s.operators.Lock()
	defer s.operators.Unlock()
	k, ok := s.kept[id]
	if !ok {
		return nil, gate.ErrNoRoom
	}
	acts := slices.Clone(k.Audit[max(0, len(k.Audit)-n):])
	slices.Reverse(acts)
	return acts, nil
}

// Messages implements gate.Store.
func (s *Store) Messages(_ context.Context, id string) ([]gate.Message, error) {
	s.operators.Lock()
	defer s.operators.Unlock()
	k, ok := s.kept[id]
	if !ok {
		return nil, gate.ErrNoRoom
	}
	return slices.Clone(k.Messages), nil
}
