package redisline

import (
	"context"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"github.com/andreimerlescu/concert/internal/ticks"
)

// Run listens for what Redis tells the instance, until ctx ends; it blocks. A
// message that is missed costs time, up to a heartbeat, and nothing else.
func (l *Line) Run(ctx context.Context) {
	all, mine := l.keys[0]+":all", l.keys[0]+":to:"+l.me
	for ctx.Err() == nil {
		if client, err := l.opt.Conn.Client(); err == nil {
			subscribe := client.B().Subscribe().Channel(all, mine).Build()
			_ = client.Receive(ctx, subscribe, func(m rueidis.PubSubMessage) { l.hear(m.Message) })
		}
		ticks.Pause(ctx, minRetry+rand.N(maxRetry/2))
	}
}

// hear takes in a message: that there is mail, or that somebody waits from a
// state of the room on.
func (l *Line) hear(message string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if text, ok := strings.CutPrefix(message, "busy "); ok {
		seq, err := strconv.ParseUint(text, 10, 64)
		if err != nil || seq < l.share.busySeq {
			return
		}
		l.share.busy, l.share.busySeq = true, seq
		if l.share.spare() == 0 {
			return
		}
	}
	l.nudge(time.Now())
}
