package redisline

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// request is one call of the script.
type request struct {
	op        string
	args      []string
	surrender bool // give back all slots that are not in use
	surplus   bool // all of them when somebody waits, or what is too much
	give      int  // slots given back beside those
}

// body is what the operation answers.
type body []string

func (b body) num(k int) int64 {
	if k >= len(b) {
		return 0
	}
	n, _ := strconv.ParseInt(b[k], 10, 64) // the script writes nothing else
	return n
}

// verdict is the first word, "" for none.
func (b body) verdict() string {
	if len(b) == 0 {
		return ""
	}
	return b[0]
}

// errBehind says that the instance must synchronize first.
var errBehind = errors.New("out of step with the room")

// call runs the script. If Redis wants the instance to synchronize, that is
// done, and the call tried once more.
func (l *Line) call(ctx context.Context, now time.Time, r request) (body, error) {
	for range 3 {
		b, err := l.once(ctx, now, r)
		if !errors.Is(err, errBehind) {
			return b, err
		}
		if err := l.synchronize(ctx, now); err != nil {
			return nil, err
		}
	}
	return nil, l.failed(now, fmt.Errorf("redis line: %s: %w", r.op, errBehind))
}

func (l *Line) once(ctx context.Context, now time.Time, r request) (body, error) {
	l.calls.RLock()
	defer l.calls.RUnlock()
	l.mu.Lock()
	back := r.give
	switch {
	case r.surrender, r.surplus && l.share.busy:
		back += l.share.spare()
	case r.surplus:
		back += l.share.surplus(l.base())
	}
	args := l.head(now, r.op, l.share.report(back, l.moment(now)))
	l.mu.Unlock()
	return l.exec(ctx, now, append(args, r.args...))
}

// head is the arguments that every call has. Called with mu and calls held.
func (l *Line) head(now time.Time, op, report string) []string {
	at := ""
	if l.opt.Given {
		at = strconv.FormatInt(now.Unix(), 10) + " " + strconv.Itoa(now.Nanosecond())
	}
	return []string{
		op, l.me, strconv.FormatUint(l.era, 10), l.room, strconv.FormatUint(l.seq, 10), at,
		report, strconv.FormatUint(l.mailSeen, 10),
	}
}

// exec sends a call and takes in what comes with the answer. A caller that goes
// away does not end it, as it would be unknown then what it did.
func (l *Line) exec(ctx context.Context, now time.Time, args []string) (body, error) {
	limited, end := l.limit(ctx)
	defer end()
	client, err := l.opt.Conn.Client()
	if err != nil {
		return nil, l.failed(now, fmt.Errorf("redis line: %s: %w", args[0], err))
	}
	sent := l.clock(now)
	l.ops.Add(1)
	got, err := l.script.run(limited, client, l.keys, args)
	if err != nil {
		if limited.silent.Load() {
			err = errSilent
		}
		return nil, l.failed(now, fmt.Errorf("redis line: %s: %w", args[0], err))
	}
	status, err := got[0].ToString()
	if err != nil {
		return nil, l.failed(now, fmt.Errorf("redis line: %s: read the answer: %w", args[0], err))
	}
	if status != "OK" {
		return nil, errBehind
	}
	r := readReply(got)
	l.takeIn(now, sent, &r)
	return r.body, nil
}
