package redisline

import (
	"context"
	"slices"
	"strconv"
	"time"
)

// doubt is a request with a ticket that came to an end while nothing was heard
// of Redis. It may have let the ticket in, even late: a call that waits there is
// carried out when Redis goes on. Then the place is to be given back.
type doubt struct {
	number uint64
	stand  string
}

// doubt takes one down. Called with mu held.
func (l *Line) doubt(number uint64, stand string) {
	if number != 0 {
		l.doubts = append(l.doubts, doubt{number, stand})
	}
}

// tellDoubts tells Redis of them, save those whose tickets were used here; it is
// false when Redis is away again.
func (l *Line) tellDoubts(ctx context.Context, now time.Time) bool {
	l.mu.Lock()
	used := make(map[uint64]bool, len(l.share.out))
	for _, h := range l.share.out {
		used[h.ticket] = true
	}
	l.doubts = slices.DeleteFunc(l.doubts, func(d doubt) bool { return used[d.number] })
	all := l.doubts
	l.mu.Unlock()
	for batch := range slices.Chunk(all, spentBatch) {
		args := make([]string, 0, 2*len(batch))
		for _, d := range batch {
			args = append(args, strconv.FormatUint(d.number, 10), d.stand)
		}
		if _, err := l.call(ctx, now, request{op: "doubt", args: args}); err != nil {
			return false
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.doubts = slices.Delete(l.doubts, 0, len(all))
	return true
}
