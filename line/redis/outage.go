package redisline

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"syscall"
	"time"
)

// Pauses between two tries to reach Redis.
const (
	minRetry = 100 * time.Millisecond
	maxRetry = time.Second
)

var errDown = errors.New("redis is away: try again in a moment")

// outage is what an instance knows while Redis is away. It is guarded by
// Line.mu.
type outage struct {
	down    bool
	since   time.Time
	of      time.Time // when the line was as marks and pace say
	refused bool      // the last try was refused: nobody else reaches Redis either
	tries   int

	admitted uint64          // in all outages
	spent    map[uint64]bool // tickets used in this one; true once Redis knows
	sent     map[uint64]bool // tickets that were told to come elsewhere
	issued   uint64          // the last number given in it
	marks    []mark          // the line as it last was
	pace     float64         // admissions per second of all instances, as it last was
	extra    float64         // places by which the line moves faster than that
	ticked   time.Time
}

func (l *Line) isDown() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.outage.down
}

// failed takes down that Redis could not be reached, and returns err. From
// then on the instance is on its own. A call that Redis answered with an error
// of its own counts as well: such as that it is loading, or full.
func (l *Line) failed(now time.Time, err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := &l.outage
	o.refused = l.opt.Conn.OneServer() && (errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, os.ErrNotExist))
	if o.down {
		return err
	}
	now = l.clock(now)
	marks, pace := readDigest(l.digest)
	*o = outage{
		down: true, since: now, of: l.latest.at, ticked: now, refused: o.refused, admitted: o.admitted,
		spent: make(map[uint64]bool), marks: marks, pace: pace, issued: o.issued,
	}
	l.log.Error("redis is away; this instance is on its own", "policy", l.opt.Down.String(), "share", l.share.lease, "error", err)
	l.nudge(now)
	return err
}

// mayClaim reports whether what is lent to this instance is still its own.
// Called with mu held.
func (l *Line) mayClaim(now time.Time) bool { return l.mayShare(now) || l.outage.refused }

// retry is Advance while Redis is away: it serves those at the door and tries
// to reach Redis, at growing intervals with jitter.
func (l *Line) retry(ctx context.Context, now time.Time) time.Time {
	l.mu.Lock()
	l.serveAlone(now)
	l.mu.Unlock()
	err := l.synchronize(ctx, now)
	if err == nil {
		l.recovered(ctx, now)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.promised = now
	if err != nil {
		l.outage.tries++
		pause := min(minRetry<<min(l.outage.tries, 8), maxRetry)
		l.promised = now.Add(pause/2 + rand.N(pause/2+1))
	}
	return l.promised
}
