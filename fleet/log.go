package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"github.com/andreimerlescu/concert/internal/ticks"
	redisline "github.com/andreimerlescu/concert/line/redis"
)

// MostUntold is how many messages wait for Redis at most.
const MostUntold = 20_000

const (
	batch    = 100                    // messages that one call writes
	block    = time.Second            // how long a read waits for the next message
	retry    = 500 * time.Millisecond // pause after Redis could not be reached
	deadline = 4 * time.Second        // for one call
)

// Message is one thing that instances tell each other.
type Message struct {
	Kind string          `json:"kind"`
	Key  string          `json:"key"`            // what it is about; the latest of a kind and key counts
	Data json.RawMessage `json:"data,omitempty"` // nothing: it is gone
	// Keep has the message be there for those who start later, until Until in
	// Unix seconds, or for good when that is 0.
	Keep  bool  `json:"keep,omitempty"`
	Until int64 `json:"until,omitempty"`
	// From is the instance that told it. It is filled in by Tell.
	From string `json:"from"`
}

// Options say who takes part in what.
type Options struct {
	Conn     *redisline.Conn
	Room     string
	Instance string
	// Take takes in what others told.
	Take func(Message)
	// All tells everything that this instance knows and that is to be kept.
	All func(tell func(Message))
	// Log gets what operators should know; nil discards it.
	Log *slog.Logger
}

// keys are what is in Redis: the latest of what is kept, when it ends, the
// stream of everything, and which state this is.
type keys struct{ state, ends, stream, id string }

// Log is an instance's part in what is told. See [New].
type Log struct {
	opt  Options
	me   string
	keys keys
	more chan struct{} // receives a value when there is something to tell

	mu     sync.Mutex // guards untold
	untold []Message

	// These are Load's and then Run's reader's alone.
	last   string // the latest message of the stream that was read
	id     string // of the state that was read, "" before
	loaded bool   // nothing was missed since
}

// New makes a log. It does nothing before Load and Run.
func New(o Options) *Log {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	p := "concert:{" + o.Room + "}:fleet:"
	return &Log{
		opt: o, me: o.Instance + "-" + strconv.FormatUint(rand.Uint64()>>16, 36),
		keys: keys{p + "state", p + "ends", p + "stream", p + "id"},
		more: make(chan struct{}, 1),
	}
}

// Tell tells the others. It never waits.
func (l *Log) Tell(m Message) {
	m.From = l.me
	l.mu.Lock()
	if len(l.untold) >= MostUntold {
		l.dropOneLocked()
	}
	l.untold = append(l.untold, m)
	l.mu.Unlock()
	select {
	case l.more <- struct{}{}:
	default: // one is on its way
	}
}

// dropOneLocked makes room: for choice by what would not be kept anyway.
func (l *Log) dropOneLocked() {
	for k := range l.untold {
		if !l.untold[k].Keep {
			l.untold = append(l.untold[:k], l.untold[k+1:]...)
			return
		}
	}
	l.untold = l.untold[1:]
}

// Run writes and reads until ctx ends; it blocks.
func (l *Log) Run(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { l.write(ctx) })
	l.read(ctx)
}

// write sends what is told, and tries again what could not be sent.
func (l *Log) write(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			l.flush(context.WithoutCancel(ctx))
			return
		case <-l.more:
		}
		for !l.flush(ctx) && ticks.Pause(ctx, retry) {
		}
	}
}

// flush sends everything; false when that failed, which leaves the rest.
func (l *Log) flush(ctx context.Context) bool {
	for {
		l.mu.Lock()
		n := min(batch, len(l.untold))
		some := l.untold[:n:n]
		l.untold = l.untold[n:]
		l.mu.Unlock()
		if n == 0 {
			return true
		}
		if err := l.send(ctx, some); err != nil {
			l.mu.Lock()
			l.untold = append(some, l.untold...)
			l.mu.Unlock()
			return false
		}
	}
}

// tell writes messages: the state of each kind and key, when it ends, and the
// stream. What ended is forgotten by and by.
var tell = rueidis.NewLuaScript(`
local now, month = tonumber(ARGV[1]), 30 * 86400
for _, field in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'LIMIT', 0, 100)) do
  redis.call('HDEL', KEYS[1], field)
  redis.call('ZREM', KEYS[2], field)
end
for k = 2, #ARGV, 5 do
  local field, keep, ends, gone, text = ARGV[k], ARGV[k + 1], ARGV[k + 2], ARGV[k + 3], ARGV[k + 4]
  if keep == '1' then
    if gone == '1' then redis.call('HDEL', KEYS[1], field) else redis.call('HSET', KEYS[1], field, text) end
    if gone == '0' and ends ~= '0' then redis.call('ZADD', KEYS[2], ends, field) else redis.call('ZREM', KEYS[2], field) end
  end
  redis.call('XADD', KEYS[3], 'MAXLEN', '~', 20000, '*', 'm', text)
end
for _, key in ipairs(KEYS) do redis.call('EXPIRE', key, month) end
`)

func (l *Log) send(ctx context.Context, some []Message) error {
	client, err := l.opt.Conn.Client()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	args := []string{strconv.FormatInt(time.Now().Unix(), 10)}
	flag := map[bool]string{false: "0", true: "1"}
	for _, m := range some {
		text, err := json.Marshal(m)
		if err != nil {
			return fmt.Errorf("tell of %s %s: %w", m.Kind, m.Key, err)
		}
		args = append(args, m.Kind+" "+m.Key, flag[m.Keep], strconv.FormatInt(m.Until, 10), flag[m.Data == nil], string(text))
	}
	if err := tell.Exec(ctx, client, []string{l.keys.state, l.keys.ends, l.keys.stream, l.keys.id}, args).Error(); err != nil && !rueidis.IsRedisNil(err) {
		return fmt.Errorf("tell other instances: %w", err)
	}
	return nil
}

// take hands a message of others on.
func (l *Log) take(text string) {
	var m Message
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		l.opt.Log.Warn("an instance told something that cannot be read", "error", err)
		return
	}
	if m.From != l.me {
		l.opt.Take(m)
	}
}

// Owner is the configured name of the instance that a message is from.
func (m Message) Owner() string {
	return m.From[:max(0, strings.LastIndexByte(m.From, '-'))]
}
