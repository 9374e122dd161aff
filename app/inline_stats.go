package app

import (
	"time"

	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/metrics"
	"github.com/andreimerlescu/concert/rooms"
	"github.com/prometheus/client_golang/prometheus"
)

// RoomStats are the figures of one inline room, named as those of the default
// room are.
type RoomStats struct {
	ID                  string  `json:"id"`
	Name                string  `json:"name,omitempty"`
	Room                string  `json:"room"`
	Cap                 int     `json:"cap"`
	Occupancy           int     `json:"occupancy"`
	LaneInFlight        int     `json:"priority_lane_in_flight"`
	QueueDepth          int     `json:"queue_depth"`
	LiveQueueDepth      int     `json:"live_queue_depth"`
	MaxQueueDepth       int     `json:"max_queue_depth"`
	AtDoor              int     `json:"at_door"`
	Utilization         float64 `json:"utilization"`
	AdmissionsPerSecond float64 `json:"admissions_per_second"`
	MeanHoldMS          float64 `json:"mean_hold_ms"`
	QueuedTotal         uint64  `json:"queued_total"`
	AdmittedTotal       uint64  `json:"admitted_total"`
	EvictedTotal        uint64  `json:"evicted_total"`
	RemovedTotal        uint64  `json:"removed_total"`
	TimeoutsTotal       uint64  `json:"timeouts_total"`
	QueueRefusedTotal   uint64  `json:"queue_refused_total"`
}

// roomStats reads the counters of the rooms in the settings, in their order.
func (a *App) roomStats(now time.Time) []RoomStats {
	t := a.inline.table.Load()
	if t == nil {
		return nil
	}
	var out []RoomStats
	for _, spec := range t.set.All() {
		r := t.rooms[spec.ID]
		l := r.line.Stats(now)
		out = append(out, RoomStats{
			ID: spec.ID, Name: spec.Name, Room: l.Settings.Mode.String(),
			Cap: l.Settings.Policy.Cap, Occupancy: l.InFlight, LaneInFlight: r.priority.Stats().LaneInFlight,
			QueueDepth: l.Live, LiveQueueDepth: l.Present, MaxQueueDepth: l.Settings.MaxWaiting, AtDoor: l.AtDoor,
			Utilization: l.Utilization, AdmissionsPerSecond: l.AdmissionRate,
			MeanHoldMS:  float64(l.MeanHold.Microseconds()) / 1000,
			QueuedTotal: l.QueuedTotal, AdmittedTotal: l.AdmittedTotal, EvictedTotal: l.EvictedTotal,
			RemovedTotal: l.RemovedTotal, TimeoutsTotal: l.TimeoutsTotal, QueueRefusedTotal: l.RefusedTotal,
		})
	}
	return out
}

// roomFamilies is the table of metrics of inline rooms.
func (a *App) roomFamilies() []metrics.Labelled {
	gauge, counter := prometheus.GaugeValue, prometheus.CounterValue
	row := func(name, help string, kind prometheus.ValueType, read func(r *RoomStats) float64) metrics.Labelled {
		return metrics.Labelled{Name: name, Help: help, Label: "room", Type: kind, Read: func(yield func(string, float64)) {
			all := a.roomStats(time.Now())
			for i := range all {
				yield(all[i].ID, read(&all[i]))
			}
		}}
	}
	return []metrics.Labelled{
		row("room_cap", "Most page requests of an inline room at the origin at once.", gauge, func(r *RoomStats) float64 { return float64(r.Cap) }),
		row("room_in_flight", "Page requests of the room at the origin now, without its lane.", gauge, func(r *RoomStats) float64 { return float64(r.Occupancy) }),
		row("room_lane_in_flight", "Slots of the room's priority lane in use.", gauge, func(r *RoomStats) float64 { return float64(r.LaneInFlight) }),
		row("room_queue_depth", "Tickets in the room's line.", gauge, func(r *RoomStats) float64 { return float64(r.QueueDepth) }),
		row("room_queue_present", "Of these, tickets whose owners were seen lately.", gauge, func(r *RoomStats) float64 { return float64(r.LiveQueueDepth) }),
		row("room_at_door", "Requests held at the room's door.", gauge, func(r *RoomStats) float64 { return float64(r.AtDoor) }),
		row("room_queued_total", "Places given in the room's line.", counter, func(r *RoomStats) float64 { return float64(r.QueuedTotal) }),
		row("room_admitted_total", "Page slots given in the room.", counter, func(r *RoomStats) float64 { return float64(r.AdmittedTotal) }),
		row("room_refused_total", "Visitors of the room turned away because its line was full, or had enough of them.", counter, func(r *RoomStats) float64 { return float64(r.QueueRefusedTotal) }),
	}
}

// roomEffects tells of those in rooms whom a change would concern.
func (a *App) roomEffects(c *config.Config, now time.Time, add func(key string, n int, format string, args ...any)) {
	t := a.inline.table.Load()
	if t == nil {
		return
	}
	for _, spec := range t.set.All() {
		l, next := t.rooms[spec.ID].line.Stats(now), c.Rooms.Get(spec.ID)
		if next == nil {
			add("rooms", l.Live, "%d wait in room %s; they begin anew where its pages belong to from now on", l.Live, spec.ID)
			continue
		}
		a.oneRoomEffects(spec, *next, l.InFlight, l.Live, add)
	}
}

func (a *App) oneRoomEffects(old, next rooms.Room, inFlight, live int, add func(key string, n int, format string, args ...any)) {
	if over := inFlight - next.Cap; next.Cap < old.Cap {
		add("rooms", over, "%d page requests of room %s are at the origin; nobody is let in there until %d of them are done", inFlight, next.ID, over+1)
	}
	if next.Mode != old.Mode && next.Mode != 0 {
		add("rooms", live, "%d who wait in room %s are not let in", live, next.ID)
	}
}
