package redisline

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// errSilent is why a call failed that was ended early.
var errSilent = errors.New("nothing is heard of redis")

// limited is the context of a call.
type limited struct {
	context.Context
	silent atomic.Bool // it was ended early: see limit
}

// limit is the time that a call has: CallTimeout, or half of it if no other call
// was answered meanwhile. When this process itself was held up, so that it looks
// late, it does not conclude anything from that.
func (l *Line) limit(ctx context.Context) (of *limited, end func()) {
	timeout := l.opt.Conn.CallTimeout
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	of = &limited{Context: ctx}
	before := l.answers.Load()
	early := time.Now().Add(timeout / 2)
	look := time.AfterFunc(timeout/2, func() { // ends with the call
		if l.answers.Load() == before && time.Since(early) < timeout/8 {
			of.silent.Store(true)
			cancel()
		}
	})
	return of, func() {
		look.Stop()
		cancel()
	}
}
