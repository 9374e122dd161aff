package app

import (
	"context"
	"net/netip"
	"time"

	"github.com/andreimerlescu/concert/gate"
	"github.com/andreimerlescu/concert/metrics"
	"github.com/prometheus/client_golang/prometheus"
)

// roomView is a room as metrics see it.
type roomView struct {
	gate.Live
	stats gate.Stats
}

// views reads all rooms with their statistics. A room that was deleted
// meanwhile is left out.
func (g *Gate) views() []roomView {
	ctx, now := context.Background(), time.Now()
	live, err := g.store.Rooms(ctx, now)
	if err != nil {
		return nil
	}
	var all []roomView
	for _, l := range live {
		if s, err := g.store.Stats(ctx, now, l.ID); err == nil {
			all = append(all, roomView{l, s})
		}
	}
	return all
}

// gateFamilies is the table of metrics of off-site rooms.
func gateFamilies(rooms func() []roomView) []metrics.Labelled {
	gauge, counter := prometheus.GaugeValue, prometheus.CounterValue
	row := func(name, help string, kind prometheus.ValueType, read func(r *roomView) float64) metrics.Labelled {
		return metrics.Labelled{Name: name, Help: help, Label: "room", Type: kind, Read: func(yield func(string, float64)) {
			for _, r := range rooms() {
				yield(r.ID, read(&r))
			}
		}}
	}
	return []metrics.Labelled{
		row("gate_queue_length", "Tickets of an off-site room that wait.", gauge, func(r *roomView) float64 { return float64(r.QueueLength) }),
		row("gate_issued_total", "Tickets given since the room was made or reset.", counter, func(r *roomView) float64 { return float64(r.Issued) }),
		row("gate_admitted_total", "Tickets whose turn has come.", counter, func(r *roomView) float64 { return float64(r.Admitted) }),
		row("gate_passed_total", "Tickets exchanged for access.", counter, func(r *roomView) float64 { return float64(r.PassedTotal) }),
		row("gate_on_site", "Visitors that the room's cap counts; 0 without one.", gauge, func(r *roomView) float64 { return float64(r.OnSite) }),
		row("gate_inflow_per_second", "Configured admissions per second.", gauge, func(r *roomView) float64 { return float64(r.Inflow) / r.Interval().Seconds() }),
		row("gate_open", "1 while the room lets people in, 0 while it is paused or closed.", gauge, func(r *roomView) float64 {
			if r.State == gate.Open {
				return 1
			}
			return 0
		}),
		row("gate_peak_queue_length", "Longest line so far.", gauge, func(r *roomView) float64 { return float64(r.stats.PeakQueue) }),
		row("gate_peak_pass_rate", "Most tickets exchanged in one minute so far.", gauge, func(r *roomView) float64 { return float64(r.stats.PeakRate) }),
	}
}

// bannedFromRooms has the bans of the proxy hold for off-site rooms as well.
func (a *App) bannedFromRooms(addr netip.Addr, now time.Time) (until time.Time, banned bool) {
	b := a.abuse.Lookup(addr, now)
	switch {
	case b == nil:
		return time.Time{}, false
	case b.Permanent():
		return time.Time{}, true
	}
	return b.Until, true
}

// gateViews are the off-site rooms of the App; none without a Gate.
func (a *App) gateViews() []roomView {
	if a.gate == nil {
		return nil
	}
	return a.gate.views()
}
