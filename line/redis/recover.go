package redisline

import (
	"context"
	"slices"
	"strconv"
	"time"
)

const (
	spentBatch = 500 // tickets used in an outage that one call reports
	// spentRounds is how many calls an instance that is on its own makes before
	// it leaves what was used since the one before for the moment after.
	spentRounds = 20
)

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
