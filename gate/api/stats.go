package api

import (
	"net/http"
	"time"

	"github.com/andreimerlescu/concert/gate"
)

// statsBody is a room's statistics, or those of all rooms together.
type statsBody struct {
	Room            string        `json:"room,omitempty"`
	Rooms           int           `json:"rooms,omitempty"`
	QueueLength     uint64        `json:"queue_length"`
	Issued          uint64        `json:"issued"`
	Admitted        uint64        `json:"admitted"`
	PassedTotal     uint64        `json:"passed_total"`
	PassedLast      uint64        `json:"passed_last_minute"` // the last whole minute
	PeakQueueLength uint64        `json:"peak_queue_length"`
	PeakQueueAt     *time.Time    `json:"peak_queue_length_at"` // null: there was none
	PeakQueueRoom   string        `json:"peak_queue_length_room,omitempty"`
	PeakPassRate    uint64        `json:"peak_pass_rate"` // per minute
	PeakPassRateAt  *time.Time    `json:"peak_pass_rate_at"`
	PeakRateRoom    string        `json:"peak_pass_rate_room,omitempty"`
	PassedPerMinute []gate.Minute `json:"passed_per_minute"`
}

func newStats(l gate.Live, s gate.Stats) statsBody {
	b := statsBody{
		Room: l.ID, QueueLength: l.QueueLength, Issued: l.Issued, Admitted: l.Admitted, PassedTotal: s.Passed,
		PeakQueueLength: s.PeakQueue, PeakQueueAt: moment(s.PeakQueueAt),
		PeakPassRate: s.PeakRate, PeakPassRateAt: moment(s.PeakRateAt), PassedPerMinute: s.PassedPerMinute,
	}
	if n := len(s.PassedPerMinute); n > 1 {
		b.PassedLast = s.PassedPerMinute[n-2].Passed
	}
	return b
}

func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// add takes a room's statistics into those of all. Peaks are the highest of any
// one room.
func (b *statsBody) add(one statsBody) {
	b.Rooms++
	b.QueueLength += one.QueueLength
	b.Issued += one.Issued
	b.Admitted += one.Admitted
	b.PassedTotal += one.PassedTotal
	b.PassedLast += one.PassedLast
	if one.PeakQueueLength > b.PeakQueueLength {
		b.PeakQueueLength, b.PeakQueueAt, b.PeakQueueRoom = one.PeakQueueLength, one.PeakQueueAt, one.Room
	}
	if one.PeakPassRate > b.PeakPassRate {
		b.PeakPassRate, b.PeakPassRateAt, b.PeakRateRoom = one.PeakPassRate, one.PeakPassRateAt, one.Room
	}
	if len(b.PassedPerMinute) == 0 {
		b.PassedPerMinute = make([]gate.Minute, len(one.PassedPerMinute))
	}
	for i := range min(len(b.PassedPerMinute), len(one.PassedPerMinute)) {
		b.PassedPerMinute[i].Minute = one.PassedPerMinute[i].Minute
		b.PassedPerMinute[i].Passed += one.PassedPerMinute[i].Passed
	}
}

func (o *Operators) stats(w http.ResponseWriter, r *http.Request) error {
	now, id := o.Now(), r.PathValue("id")
	l, err := o.Store.Room(r.Context(), now, id)
	if err != nil {
		return err
	}
	s, err := o.Store.Stats(r.Context(), now, id)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, newStats(l, s))
	return nil
}

func (o *Operators) aggregate(w http.ResponseWriter, r *http.Request) error {
	now := o.Now()
	rooms, err := o.Store.Rooms(r.Context(), now)
	if err != nil {
		return err
	}
	all := statsBody{PassedPerMinute: []gate.Minute{}}
	for _, l := range rooms {
		s, err := o.Store.Stats(r.Context(), now, l.ID)
		if err != nil {
			return err
		}
		all.add(newStats(l, s))
	}
	writeJSON(w, http.StatusOK, all)
	return nil
}
