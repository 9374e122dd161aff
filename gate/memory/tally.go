package memory

import (
	"time"

	"github.com/andreimerlescu/concert/gate"
)

// tally is a room's statistics. Minutes are Unix time by 60.
type tally struct {
	Passed      uint64                   `json:"passed"`
	PeakQueue   uint64                   `json:"peak_queue"`
	PeakQueueAt time.Time                `json:"peak_queue_at"`
	PeakRate    uint64                   `json:"peak_rate"`
	PeakRateAt  time.Time                `json:"peak_rate_at"`
	Minute      int64                    `json:"minute"` // the latest in Ring
	Ring        [gate.MinutesKept]uint64 `json:"per_minute"`
}

// queue notes the length of the line.
func (t *tally) queue(length uint64, now time.Time) {
	if length > t.PeakQueue {
		t.PeakQueue, t.PeakQueueAt = length, now
	}
}

// pass notes that somebody passed.
func (t *tally) pass(now time.Time) {
	t.turn(now)
	t.Passed++
	n := &t.Ring[t.Minute%gate.MinutesKept]
	*n++
	if *n > t.PeakRate {
		t.PeakRate, t.PeakRateAt = *n, now
	}
}

// turn begins the minutes up to now.
func (t *tally) turn(now time.Time) {
	minute := now.Unix() / 60
	if minute-t.Minute >= gate.MinutesKept {
		t.Ring, t.Minute = [gate.MinutesKept]uint64{}, minute
	}
	for t.Minute < minute {
		t.Minute++
		t.Ring[t.Minute%gate.MinutesKept] = 0
	}
}

func (t *tally) stats(now time.Time) gate.Stats {
	t.turn(now)
	s := gate.Stats{Passed: t.Passed, PeakQueue: t.PeakQueue, PeakQueueAt: t.PeakQueueAt, PeakRate: t.PeakRate, PeakRateAt: t.PeakRateAt}
	for m := t.Minute - gate.MinutesKept + 1; m <= t.Minute; m++ {
		s.PassedPerMinute = append(s.PassedPerMinute, gate.Minute{Minute: time.Unix(m*60, 0).UTC(), Passed: t.Ring[m%gate.MinutesKept]})
	}
	return s
}
