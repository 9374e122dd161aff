package redis

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/andreimerlescu/concert/gate"
	redisline "github.com/andreimerlescu/concert/line/redis"
	"github.com/redis/rueidis"
)

const (
	// maxWaiting is the most tickets that may wait in a room.
	maxWaiting = 10_000_000

	// run is the part of a ticket that tells processes apart, which Redis
	// does not need.
	run = 1
)

//go:embed script.lua
var source string

// Options are what a Store is made of.
type Options struct {
	// Conn is where Redis is, as package redisline reads it from a URL.
	Conn *redisline.Conn
	// Prefix begins every key; empty means "concert:".
	Prefix string
	// Clock has the rooms go by the times that methods are given. Without it
	// they go by the server's, as several processes must.
	Clock bool
}

// Store keeps rooms in Redis. Use [New].
type Store struct {
	conn   *redisline.Conn
	prefix string
	clock  bool
	script *rueidis.Lua
}

var _ gate.Store = (*Store)(nil)

// New makes a Store. Redis need not answer yet.
func New(o Options) *Store {
	if o.Prefix == "" {
		o.Prefix = "concert:"
	}
	return &Store{conn: o.Conn, prefix: o.Prefix + "{gate}:", clock: o.Clock, script: rueidis.NewLuaScript(source)}
}

// Close ends the connection.
func (s *Store) Close() { s.conn.Close() }

// connect returns the client, or why there is none.
func (s *Store) connect() (rueidis.Client, error) {
	client, err := s.conn.Client()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", gate.ErrUnavailable, err)
	}
	return client, nil
}

// call runs the script on a room.
func (s *Store) call(ctx context.Context, now time.Time, op, id string, args ...string) ([]string, error) {
	client, err := s.connect()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.conn.CallTimeout)
	defer cancel()
	at := "0"
	if s.clock {
		at = fmt.Sprint(now.UnixMicro())
	}
	keys := []string{s.prefix + "rooms", s.prefix + "line:" + id, s.prefix + "seats:" + id, s.prefix + "on:" + id, s.prefix + "late:" + id,
		s.prefix + "minutes:" + id, s.prefix + "messages", s.prefix + "audit:" + id}
	out, err := s.script.Exec(ctx, client, keys, append([]string{op, id, at, s.prefix + "ticket:" + id + ":"}, args...)).AsStrSlice()
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: redis: %s: %w", gate.ErrUnavailable, op, err)
	case len(out) == 0:
		return nil, fmt.Errorf("%w: redis: %s: the answer is empty", gate.ErrUnavailable, op)
	case out[0] == "ok":
		return out[1:], nil
	}
	if refusal := refusals[out[0]]; refusal != nil {
		return nil, refusal
	}
	return nil, fmt.Errorf("redis: %s: the script says %q", op, out[0])
}

// errConflict: another operator was faster.
var errConflict = errors.New("another operator was faster")

// refusals are the errors for the script's words.
var refusals = map[string]error{
	"no room": gate.ErrNoRoom, "exists": gate.ErrRoomExists, "full": gate.ErrFull, "closed": gate.ErrClosed, "gone": gate.ErrGone,
	"used": gate.ErrUsed, "burnt": gate.ErrBurnt, "not yet": gate.ErrNotYet, "conflict": errConflict,
}

// record is what operators decided about a room.
type record struct {
	Room      gate.Room `json:"room"`
	Paused    bool      `json:"paused"`
	Epoch     int64     `json:"epoch"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

func (r *record) state() gate.State { return r.Room.State(r.Paused) }

func parseRecord(text string) (r record, err error) {
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return r, fmt.Errorf("redis: read a room: %w", err)
	}
	return r, nil
}
