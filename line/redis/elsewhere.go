package redisline

import (
	"time"

	"github.com/andreimerlescu/concert/line"
)

// This file is about visitors for whom an instance that does not hear of Redis
// can do less than another that does: a balancer sends them to either. So it
// keeps nobody at its door whom it is not about to let in, and has those whose
// turn is near ask again soon. The script does its part in F.detour.

const (
	// detour is by how much earlier than elsewhere visitors are to come, as some
	// of their requests reach nobody who knows the line. The script has the same.
	detour = 3 * time.Second
	// aloneHold is the longest that somebody is expected to stand at the door:
	// another instance is found within about that.
	aloneHold = time.Second
	// mostSentOn bounds the tickets that are remembered as sent on.
	mostSentOn = 1 << 16
)

// detourNow is detour, or 0 when there is no instance that may know more.
// Called with mu held, as is every function of this file.
func (l *Line) detourNow() time.Duration {
	if l.outage.refused || len(l.latest.alive) < 2 {
		return 0
	}
	return detour
}

// holdUntil is how long a request may stand at the door: no longer than the
// instance may use its share.
func (l *Line) holdUntil(now time.Time) time.Time {
	until := now.Add(l.set.DoorWait)
	if end := l.heard.Add(shareFor); l.opt.Down == Share && !l.outage.refused && end.Before(until) {
		return end
	}
	return until
}

// holdsAlone reports whether a request is to stand at the door: it is if it is
// likely to be let in there, and before it would be elsewhere.
func (l *Line) holdsAlone(now time.Time, number uint64, noPlace bool) bool {
	slots, until := l.allowance(now), l.holdUntil(now)
	if slots == 0 || len(l.stands) >= l.set.DoorMax || !l.due(number, until) {
		return false
	}
	within := until.Sub(now)
	if !noPlace && l.detourNow() > 0 {
		within = min(within, aloneHold)
	}
	behind := l.share.used + l.standingBefore(number) - slots // ends of pages to wait for, less one
	hold := l.latest.stats.MeanHold
	return behind < 0 || hold <= 0 || float64(behind)*float64(hold) < float64(slots)*float64(within)
}

func (l *Line) standingBefore(number uint64) (n int) {
	for _, st := range l.stands {
		if st.armed && st.number < number {
			n++
		}
	}
	return n
}

// strandAll has everybody at the door wait with their places, as nobody is let
// in any more.
func (l *Line) strandAll() {
	for _, st := range l.stands {
		if !st.armed {
			continue
		}
		if st.known {
			l.doubt(st.number, st.id)
		}
		st.strand()
	}
}

// sendsOn reports whether somebody whose turn is near is told to come, as their
// next request may reach an instance that knows the line. It does so once.
func (l *Line) sendsOn(now time.Time, number uint64) bool {
	o, ahead := &l.outage, l.detourNow()
	if ahead == 0 || l.set.Mode != line.Open || !l.due(number, now.Add(ahead)) || o.sent[number] || len(o.sent) >= mostSentOn {
		return false
	}
	if o.sent == nil {
		o.sent = make(map[uint64]bool)
	}
	o.sent[number] = true
	return true
}
