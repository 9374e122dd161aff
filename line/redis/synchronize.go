package redisline

import (
	"context"
	"strconv"
	"strings"
	"time"
)

// synchronize tells Redis what this instance holds, and ends everything that
// may still be under way from before.
func (l *Line) synchronize(ctx context.Context, now time.Time) error {
	l.calls.Lock()
	defer l.calls.Unlock()
	l.era = max(l.era+1, uint64(time.Now().UnixMicro()))
	lost, err := l.exec(ctx, now, l.holdings(now))
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range lost {
		if st := l.stands[id]; st != nil {
			st.known = false
		}
	}
	if !l.outage.down { // otherwise the end of the outage sees to them
		if lost := l.strangers(); len(lost) > 0 {
			go l.bringAllBack(now, lost) // ends when each was asked for, or Redis fails
		}
	}
	return nil
}

// holdings is the call that says what this instance holds. Called with calls
// held.
func (l *Line) holdings(now time.Time) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &l.share
	if !l.mayClaim(now) {
		s.lease = s.used
	}
	s.lease = max(s.lease, s.used)
	ids := make([]string, 0, len(l.stands))
	for id := range l.stands {
		ids = append(ids, id)
	}
	flags := flagsOf(flag{'R', l.opt.Returning}, flag{'H', l.opt.Returning}, flag{'O', l.outage.issued > 0})
	args := append(l.head(now, "sync", s.report(0, l.moment(now))), strconv.Itoa(s.lease), strconv.Itoa(s.used),
		strconv.Itoa(max(1, len(l.latest.alive))), strconv.FormatUint(l.highest, 10), flags, l.digest, strings.Join(ids, " "))
	return append(args, settingArgs(l.set)...)
}
