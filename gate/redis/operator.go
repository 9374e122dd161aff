package redis

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/andreimerlescu/concert/gate"
	"github.com/andreimerlescu/concert/persist"
)

// attempts is how often an operator's change is decided anew when others were
// faster.
const attempts = 20

func encode(v any) (string, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("redis: encode: %w", err)
	}
	return string(b), nil
}

func act(now time.Time, by persist.By, what, note string, changes ...persist.ActChange) persist.Act {
	return persist.Act{At: now.UTC(), By: by, What: what, Note: note, Changes: changes}
}

// settings are a room's, as the script takes them.
func settings(r *record) []string {
	flag := func(on bool) string {
		if on {
			return "1"
		}
		return "0"
	}
	return []string{strconv.Itoa(r.Room.Inflow), strconv.Itoa(r.Room.IntervalSec), strconv.Itoa(r.Room.MostAtOnce()), strconv.Itoa(r.Room.Cap),
		flag(r.Room.Enabled), flag(r.Paused), strconv.Itoa(r.Room.QueueTTLSec), strconv.Itoa(r.Room.AccessTTLSec)}
}

// Create implements gate.Store.
func (s *Store) Create(ctx context.Context, now time.Time, by persist.By, room gate.Room) (gate.Live, error) {
	room = room.Complete()
	if err := room.Check(); err != nil {
		return gate.Live{}, err
	}
	r := record{Room: room, Epoch: now.UnixMilli(), CreatedAt: now.UTC(), UpdatedAt: now.UTC()}
	text, err := encode(r)
	if err != nil {
		return gate.Live{}, err
	}
	note, err := encode(act(now, by, "create", "", gate.Changes(gate.Room{}, room)...))
	if err != nil {
		return gate.Live{}, err
	}
	args := append([]string{strconv.Itoa(gate.MaxRooms), text, note, strconv.FormatInt(r.Epoch, 10)}, settings(&r)...)
	if _, err := s.call(ctx, now, "create", room.ID, args...); err != nil {
		return gate.Live{}, err
	}
	return s.Room(ctx, now, room.ID)
}

// Room implements gate.Store.
func (s *Store) Room(ctx context.Context, now time.Time, id string) (gate.Live, error) {
	out, err := s.call(ctx, now, "live", id)
	if err != nil {
		return gate.Live{}, err
	}
	r, err := parseRecord(out[0])
	if err != nil {
		return gate.Live{}, err
	}
	v, err := numbers(out[1:])
	if err != nil {
		return gate.Live{}, err
	}
	l := gate.Live{Room: r.Room, State: r.state(), Issued: uint64(v[0]), Admitted: uint64(v[1]), QueueLength: uint64(v[0] - v[1]),
		PassedTotal: uint64(v[2]), CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt}
	if r.Room.Cap > 0 {
		l.OnSite = int(v[3])
	}
	return l, nil
}

// Rooms implements gate.Store.
func (s *Store) Rooms(ctx context.Context, now time.Time) ([]gate.Live, error) {
	client, err := s.connect()
	if err != nil {
		return nil, err
	}
	call, cancel := context.WithTimeout(ctx, s.conn.CallTimeout)
	defer cancel()
	ids, err := client.Do(call, client.B().Hkeys().Key(s.prefix+"rooms").Build()).AsStrSlice()
	if err != nil {
		return nil, fmt.Errorf("%w: redis: rooms: %w", gate.ErrUnavailable, err)
	}
	slices.Sort(ids)
	all := []gate.Live{}
	for _, id := range ids {
		l, err := s.Room(ctx, now, id)
		if errors.Is(err, gate.ErrNoRoom) {
			continue // deleted meanwhile
		}
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

// decided returns what operators decided, as it stands there.
func (s *Store) decided(ctx context.Context, now time.Time, id string) ([]string, error) {
	return s.call(ctx, now, "decided", id)
}

// settle has a change tried, and tried anew for as long as others are faster.
func settle(try func() error) error {
	for range attempts {
		if err := try(); !errors.Is(err, errConflict) {
			return err
		}
	}
	return fmt.Errorf("%w: %w", gate.ErrUnavailable, errConflict)
}

// decision decides on a room as it stands there. note is nil when nothing is
// changed.
type decision func(r *record) (note *persist.Act, action gate.Action, err error)

// change decides on what stands there, and puts it in force.
func (s *Store) change(ctx context.Context, now time.Time, id string, decide decision) (gate.Live, error) {
	err := settle(func() error {
		out, err := s.decided(ctx, now, id)
		if err != nil {
			return err
		}
		args, err := decide.args(out[0], now)
		if err != nil {
			return err
		}
		_, err = s.call(ctx, now, "change", id, args...)
		return err
	})
	if err != nil {
		return gate.Live{}, err
	}
	return s.Room(ctx, now, id)
}

// args are what the script is told of a decision on what stands there.
func (decide decision) args(text string, now time.Time) ([]string, error) {
	r, err := parseRecord(text)
	if err != nil {
		return nil, err
	}
	note, action, err := decide(&r)
	if err != nil {
		return nil, err
	}
	noted := ""
	if note != nil {
		r.UpdatedAt = now.UTC()
		if noted, err = encode(note); err != nil {
			return nil, err
		}
	}
	next, err := encode(r)
	return append([]string{text, next, noted, string(action), strconv.FormatInt(r.Epoch, 10)}, settings(&r)...), err
}

// Update implements gate.Store.
func (s *Store) Update(ctx context.Context, now time.Time, by persist.By, id string, p gate.Patch) (gate.Live, error) {
	return s.change(ctx, now, id, func(r *record) (*persist.Act, gate.Action, error) {
		var changes []persist.ActChange
		r.Room, changes = p.Apply(r.Room)
		if len(changes) == 0 {
			return nil, "", nil
		}
		a := act(now, by, "update", "", changes...)
		return &a, "", r.Room.Check()
	})
}

// Act implements gate.Store.
func (s *Store) Act(ctx context.Context, now time.Time, by persist.By, id string, do gate.Action) (gate.Live, error) {
	return s.change(ctx, now, id, func(r *record) (*persist.Act, gate.Action, error) {
		if err := do.Check(); err != nil {
			return nil, "", err
		}
		r.Paused, r.Epoch = do.Decide(r.Paused, r.Epoch, now)
		a := act(now, by, string(do), "")
		return &a, do, nil
	})
}

// Delete implements gate.Store.
func (s *Store) Delete(ctx context.Context, now time.Time, id string) error {
	_, err := s.call(ctx, now, "delete", id)
	return err
}

// Audit implements gate.Store.
func (s *Store) Audit(ctx context.Context, id string, n int) ([]persist.Act, error) {
	out, err := s.call(ctx, time.Now(), "audit", id, strconv.Itoa(n))
	if err != nil {
		return nil, err
	}
	acts := make([]persist.Act, len(out))
	for i, text := range out {
		if err := json.Unmarshal([]byte(text), &acts[i]); err != nil {
			return nil, fmt.Errorf("redis: read the audit: %w", err)
		}
	}
	return acts, nil
}

// Stats implements gate.Store.
func (s *Store) Stats(ctx context.Context, now time.Time, id string) (gate.Stats, error) {
	out, err := s.call(ctx, now, "stats", id)
	if err != nil {
		return gate.Stats{}, err
	}
	v, err := numbers(out)
	if err != nil {
		return gate.Stats{}, err
	}
	moment := func(us int64) time.Time {
		if us == 0 {
			return time.Time{}
		}
		return time.UnixMicro(us).UTC()
	}
	st := gate.Stats{Passed: uint64(v[0]), PeakQueue: uint64(v[1]), PeakQueueAt: moment(v[2]), PeakRate: uint64(v[3]), PeakRateAt: moment(v[4])}
	passed := map[int64]uint64{}
	for i := 6; i+1 < len(v); i += 2 {
		passed[v[i]] = uint64(v[i+1])
	}
	for m := v[5] - gate.MinutesKept + 1; m <= v[5]; m++ {
		st.PassedPerMinute = append(st.PassedPerMinute, gate.Minute{Minute: time.Unix(m*60, 0).UTC(), Passed: passed[m]})
	}
	return st, nil
}
