package redisline

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Policy is what an instance does while Redis is away.
type Policy uint8

// The policies.
const (
	// Share admits people with the slots that are lent to the instance, for as
	// long as nobody else can be lent them: while Redis refuses connections, as
	// it does while it restarts, without end; while it is merely silent, so that
	// it may be there for others, for a few seconds.
	Share Policy = iota
	// Closed has everybody wait.
	Closed
	// Open lets everybody pass, and counts them.
	Open
)

const (
	minRetry   = 100 * time.Millisecond // pause between two tries to reach Redis
	maxRetry   = time.Second
	spentBatch = 500 // tickets used in an outage that one call reports
	// spentRounds is how many calls an instance that is on its own makes before
	// it leaves what was used since the one before for the moment after.
	spentRounds = 20
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

// mark is a number and how many stood ahead of it.
type mark struct {
	number uint64
	ahead  float64
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

// String is the policy as it is set.
func (p Policy) String() string { return [...]string{"share", "closed", "open"}[p] }

// readDigest reads what F.digest of the script wrote: admissions per
// nanosecond times 1e15, and marks.
func readDigest(text string) (marks []mark, pace float64) {
	for word := range strings.FieldsSeq(text) {
		number, ahead, ok := strings.Cut(word, ":")
		if !ok {
			pace, _ = strconv.ParseFloat(word, 64)
			pace /= 1e6
			continue
		}
		m := mark{}
		m.number, _ = strconv.ParseUint(number, 10, 64)
		m.ahead, _ = strconv.ParseFloat(ahead, 64)
		marks = append(marks, m)
	}
	return marks, pace
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

// recovered ends an outage: Redis learns which tickets were used in it, so that
// none of them is taken for one that is to come back, and the requests at the
// door are brought before it.
func (l *Line) recovered(ctx context.Context, now time.Time) {
	used, ok := l.tellSpent(ctx, now)
	if !ok {
		return
	}
	l.mu.Lock()
	set, unsaid, lasted := l.set, l.unsaid, now.Sub(l.outage.since)
	lost := l.strangers()
	l.mu.Unlock()
	if unsaid && l.Configure(ctx, now, set) != nil || !l.tellDoubts(ctx, now) {
		return
	}
	l.bringAllBack(now, lost)
	l.log.Info("redis is back", "away", lasted.Round(time.Millisecond), "used_meanwhile", used, "brought_back", len(lost))
}

// tellSpent tells Redis which tickets were used, and how many that were. Until
// it knows, the instance stays on its own, where it knows itself; on a busy day
// some are always used meanwhile, so the last round is told afterwards. ok is
// false when Redis is away again.
func (l *Line) tellSpent(ctx context.Context, now time.Time) (used int, ok bool) {
	for round := 1; ; round++ {
		l.mu.Lock()
		batch, more := l.outage.untold(spentBatch)
		done := len(batch) == 0 || round >= spentRounds && !more
		if done {
			used = len(l.outage.spent)
			l.outage.down, l.outage.spent, l.outage.sent = false, nil, nil
		}
		l.mu.Unlock()
		if len(batch) > 0 && !l.tell(ctx, now, batch) {
			return 0, false
		}
		if done {
			return used, true
		}
	}
}

// tell tells Redis of used tickets. When it cannot, they are kept for the next
// time.
func (l *Line) tell(ctx context.Context, now time.Time, numbers []uint64) bool {
	args := make([]string, len(numbers))
	for k, number := range numbers {
		args[k] = strconv.FormatUint(number, 10)
	}
	_, err := l.call(ctx, now, request{op: "spent", args: args})
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, number := range numbers {
		if l.outage.down {
			l.outage.spent[number] = err == nil
		}
	}
	return err == nil
}

// untold is up to limit of the tickets that were used and that Redis does not
// know of; more says that there are others.
func (o *outage) untold(limit int) (numbers []uint64, more bool) {
	for number, told := range o.spent {
		if told {
			continue
		}
		if len(numbers) == limit {
			return numbers, true
		}
		numbers = append(numbers, number)
	}
	return numbers, false
}

// strangers are the requests at the door that Redis does not know of, in line
// order. Whoever gets them is to ask for them. Called with mu held.
func (l *Line) strangers() (lost []*stand) {
	for _, st := range l.stands {
		if st.armed && !st.known {
			st.known = true
			lost = append(lost, st)
		}
	}
	slices.SortFunc(lost, inLineOrder)
	return lost
}

// bringAllBack puts requests before Redis again, in this order.
func (l *Line) bringAllBack(now time.Time, lost []*stand) {
	for _, st := range lost {
		l.bringBack(context.Background(), l.clock(now), st)
	}
}

// bringBack puts a request that stands at the door before Redis again, which
// knows nothing of it.
func (l *Line) bringBack(ctx context.Context, now time.Time, st *stand) {
	st.asking.Lock()
	defer st.asking.Unlock()
	l.mu.Lock()
	e, gone := st.entry, st.over
	l.mu.Unlock()
	if gone {
		return
	}
	b, err := l.call(ctx, now, request{op: "enter", args: entryArgs(&e, st.id, true), surrender: true})
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err != nil: // served by the outage, or brought back after it
		st.known = false
		l.doubt(e.Ticket.Number, st.id)
	case b.verdict() == "ADMITTED" && st.over: // the next outage was faster
		l.unwanted(now)
	case b.verdict() == "ADMITTED":
		st.conclude(l.admitted(now, st.number))
	case st.over: // by mail, or as above
	case b.verdict() == "DOOR":
		st.ticket = b[2]
	default:
		st.strand()
	}
}
