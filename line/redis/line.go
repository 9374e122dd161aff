package redisline

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/andreimerlescu/concert/line"
)

var _ line.Line = (*Line)(nil)

const (
	heartbeat = time.Second // the longest pause between two calls of Advance
	// confirmAfter is the longest that mail waits to be confirmed: an instance
	// that does not for half a second is sent nobody any more.
	confirmAfter = 100 * time.Millisecond
	shareFor     = 5 * time.Second // how long a share is good after Redis was last heard; a lease, LEASE in the script, is longer
)

// Options say what a line begins with.
type Options struct {
	Conn *Conn
	// Room names the line: instances of the same room share it.
	Room string
	// Instance names this process to operators. A random part is added.
	Instance string
	Settings line.Settings
	// Down is what to do while Redis is away.
	Down Policy
	// Returning lets tickets of before return to a room that begins, and has
	// the room hold back its slots for a moment, as others may have some out.
	Returning bool
	// Given takes the times that callers pass as the line's, for tests.
	Given bool
	// Log gets what operators should know; nil discards it.
	Log *slog.Logger
}

// Line is an instance's part of a shared line. See [New].
type Line struct {
	script *script
	keys   []string
	me     string
	opt    Options
	log    *slog.Logger
	began  time.Time
	wake   chan struct{}
	ops    atomic.Uint64 // scripts run
	quick  atomic.Uint64 // admissions without one

	answers atomic.Uint64 // calls that Redis answered

	// calls is held for reading by each call, and for writing to synchronize,
	// when no other call may be under way. It guards era.
	calls sync.RWMutex
	era   uint64

	mu       sync.Mutex // guards the fields below
	set      line.Settings
	unsaid   bool // set is newer than what Redis knows
	share    share
	stands   map[string]*stand // requests at the door, by their id
	lastID   uint64
	room     string // what Redis last said the room is, "" before
	seq      uint64 // the latest state of it that was seen
	mailSeen uint64
	promised time.Time // when Advance said it wants to be called
	heard    time.Time // when the latest call that succeeded was made
	highest  uint64    // highest ticket number seen
	digest   string
	latest   view // of the last heartbeat
	outage   outage
	doubts   []doubt // requests that ended without Redis's word
}

// New makes a line. Redis need not be there: the line goes by Options.Down
// until it is.
func New(o Options) *Line {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	l := &Line{
		script: newScript(),
		keys:   []string{"concert:{" + o.Room + "}"},
		me:     o.Instance + "-" + strconv.FormatUint(rand.Uint64()>>16, 36),
		opt:    o,
		log:    o.Log,
		began:  time.Now(),
		wake:   make(chan struct{}, 1),
		era:    uint64(time.Now().UnixMicro()),
		set:    normal(o.Settings),
		stands: make(map[string]*stand),
	}
	l.share.out = make(map[line.Slot]held)
	l.share.busy = true
	return l
}

// normal gives settings that must be positive a value.
func normal(s line.Settings) line.Settings {
	if s.TTL <= 0 {
		s.TTL = 5 * time.Minute
	}
	return s
}

// Join makes the line known to Redis. Without it, the first call does. The
// error says why Redis cannot be reached.
func (l *Line) Join(ctx context.Context, now time.Time) error { return l.synchronize(ctx, now) }

// Close gives back what the line holds of the room, so that others need not
// wait for its lease to run out. The error says why that was not possible.
func (l *Line) Close(ctx context.Context) error {
	_, err := l.call(ctx, time.Now(), request{op: "quitroom", surrender: true})
	return err
}

// clock is the time of day, or with Options.Given the time that was passed.
func (l *Line) clock(given time.Time) time.Time {
	if l.opt.Given {
		return given
	}
	return time.Now()
}

// Wake receives a value when the time Advance last returned is stale.
func (l *Line) Wake() <-chan struct{} { return l.wake }

// nudge has Advance called soon. Called with mu held.
func (l *Line) nudge(at time.Time) {
	if !l.promised.IsZero() && !at.Before(l.promised) {
		return
	}
	l.promised = at
	select {
	case l.wake <- struct{}{}:
	default: // one is on its way
	}
}

// Advance is the heartbeat, and does what the passage of time alone brings. It
// also tries to reach Redis again while it is away.
func (l *Line) Advance(ctx context.Context, now time.Time) (time.Time, error) {
	if l.isDown() {
		return l.retry(ctx, now), nil
	}
	body, err := l.call(ctx, now, request{op: "advance", surplus: true})
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.promised = now.Add(minRetry)
		return l.promised, nil // the outage has begun, and is logged
	}
	l.latest = readView(body, now)
	l.digest = l.latest.digest
	next := now.Add(heartbeat)
	if at := l.share.next; !at.IsZero() && at.Before(next) {
		next = at
	}
	l.promised = next
	return next, nil
}

// Configure swaps the settings, for all instances.
func (l *Line) Configure(ctx context.Context, now time.Time, s line.Settings) error {
	s = normal(s)
	l.mu.Lock()
	l.set, l.unsaid = s, true
	l.mu.Unlock()
	if l.isDown() {
		return nil // told when Redis is back
	}
	_, err := l.call(ctx, now, request{op: "configure", args: settingArgs(s), surrender: true})
	if err == nil {
		l.mu.Lock()
		l.unsaid = false
		l.mu.Unlock()
	}
	return err
}
