package portal

import (
	"sync"
	"time"

	"github.com/andreimerlescu/concert/gate"
	"github.com/andreimerlescu/concert/portal/view"
)

// pace is who passed through each room of the site, by the minute, and how long
// its line was at its longest, since the portal runs.
type pace struct {
	mu   sync.Mutex // guards all
	room map[string]*roomPace
}

// roomPace is the pace of one room.
type roomPace struct {
	known   bool
	before  uint64 // admissions at the last look
	minute  time.Time
	passed  []uint64 // of the last minutes; the last one is under way
	queue   int
	queueAt time.Time
	most    uint64
	mostAt  time.Time
}

// look takes a measurement of every room.
func (p *pace) look(all []SiteRoom, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.room == nil {
		p.room = make(map[string]*roomPace)
	}
	for _, s := range all {
		r := p.room[s.ID]
		if r == nil {
			r = &roomPace{}
			p.room[s.ID] = r
		}
		st := s.Line.Stats(now)
		r.count(st.AdmittedTotal, st.Live, now)
	}
}

// count takes in what a line's counters stand at.
func (r *roomPace) count(admitted uint64, live int, now time.Time) {
	if live > r.queue {
		r.queue, r.queueAt = live, now
	}
	r.advance(now)
	if r.known && admitted > r.before {
		last := &r.passed[len(r.passed)-1]
		if *last += admitted - r.before; *last > r.most {
			r.most, r.mostAt = *last, r.minute
		}
	}
	r.known, r.before = true, admitted
}

// advance begins the minutes that have come.
func (r *roomPace) advance(now time.Time) {
	minute := now.Truncate(time.Minute)
	if r.passed == nil || minute.Sub(r.minute) >= gate.MinutesKept*time.Minute {
		r.minute, r.passed = minute, []uint64{0}
	}
	for r.minute.Before(minute) {
		r.minute = r.minute.Add(time.Minute)
		r.passed = append(r.passed, 0)
	}
	r.passed = r.passed[max(0, len(r.passed)-gate.MinutesKept):]
}

// show puts a room's pace into its detail.
func (p *pace) show(d *view.RoomDetail, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d.PerMinute = []view.RoomMinute{}
	r := p.room[d.ID]
	if r == nil {
		return
	}
	r.advance(now)
	first := r.minute.Add(-time.Duration(len(r.passed)-1) * time.Minute)
	for i, n := range r.passed {
		d.PerMinute = append(d.PerMinute, view.RoomMinute{Minute: first.Add(time.Duration(i) * time.Minute), Passed: n})
	}
	if d.Waiting > r.queue {
		r.queue, r.queueAt = d.Waiting, now
	}
	d.PeakWaiting, d.PeakWaitingAt = uint64(r.queue), r.queueAt
	d.PeakRate, d.PeakRateAt = r.most, r.mostAt
}
