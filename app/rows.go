package app

import (
	"slices"
	"time"

	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/metrics"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/prometheus/client_golang/prometheus"
)

// metricRows is the table of metrics without labels.
func (a *App) metricRows() []metrics.Row {
	gauge, counter := prometheus.GaugeValue, prometheus.CounterValue
	fromLine := func(read func(line.Stats) float64) func() float64 {
		return func() float64 { return read(a.line.Stats(time.Now())) }
	}
	rows := []metrics.Row{
		{Name: "cap", Help: "Most page requests at the origin at once.", Type: gauge, Value: fromLine(func(s line.Stats) float64 { return float64(s.Settings.Policy.Cap) })},
		{Name: "in_flight", Help: "Page requests at the origin now.", Type: gauge, Value: fromLine(func(s line.Stats) float64 { return float64(s.InFlight) })},
		{Name: "queue_depth", Help: "Tickets in line.", Type: gauge, Value: fromLine(func(s line.Stats) float64 { return float64(s.Live) })},
		{Name: "queue_present", Help: "Tickets whose owners were seen lately.", Type: gauge, Value: fromLine(func(s line.Stats) float64 { return float64(s.Present) })},
		{Name: "at_door", Help: "Requests held at the door.", Type: gauge, Value: fromLine(func(s line.Stats) float64 { return float64(s.AtDoor) })},
		{Name: "mean_hold_seconds", Help: "Smoothed time a page slot is held.", Type: gauge, Value: fromLine(func(s line.Stats) float64 { return s.MeanHold.Seconds() })},
		{Name: "admissions_per_second", Help: "Measured admissions per second, smoothed.", Type: gauge, Value: fromLine(func(s line.Stats) float64 { return s.AdmissionRate })},
		{Name: "queued_total", Help: "Places in line given.", Type: counter, Value: fromLine(func(s line.Stats) float64 { return float64(s.QueuedTotal) })},
		{Name: "admitted_total", Help: "Page slots given.", Type: counter, Value: fromLine(func(s line.Stats) float64 { return float64(s.AdmittedTotal) })},
		{Name: "evicted_total", Help: "Tickets that ended unused.", Type: counter, Value: fromLine(func(s line.Stats) float64 { return float64(s.EvictedTotal) })},
		{Name: "removed_total", Help: "Tickets removed by an operator.", Type: counter, Value: fromLine(func(s line.Stats) float64 { return float64(s.RemovedTotal) })},
		{Name: "door_timeouts_total", Help: "Requests that outlasted the door.", Type: counter, Value: fromLine(func(s line.Stats) float64 { return float64(s.TimeoutsTotal) })},
		{Name: "asset_in_flight", Help: "Asset requests at the origin now.", Type: gauge, Value: func() float64 { return float64(a.stages.assets.Stats().InFlight) }},
		{Name: "asset_users", Help: "Passes with a pool of their own.", Type: gauge, Value: func() float64 { return float64(a.stages.assets.Stats().Users) }},
		{Name: "asset_served_total", Help: "Asset requests sent to the origin.", Type: counter, Value: func() float64 { return float64(a.stages.assets.Stats().Served) }},
		{Name: "stream_active", Help: "Streams open now.", Type: gauge, Value: func() float64 { return float64(a.stages.streams.Stats().Active) }},
		{Name: "stream_served_total", Help: "Streams opened.", Type: counter, Value: func() float64 { return float64(a.stages.streams.Stats().Served) }},
		{Name: "storage_faults", Help: "Files in the data directory that cannot be saved at present.", Type: gauge, Value: func() float64 { return float64(len(a.data.Faults())) }},
		{Name: "panics_total", Help: "Requests whose handler panicked.", Type: counter, Value: func() float64 { return float64(a.pipeline.Stats().Panics) }},
	}
	return slices.Concat(rows, a.priorityRows(), a.abuseRows(), a.connectionRows(), a.tlsRows(), a.fleetRows())
}

// metricFamilies is the table of metrics with one label.
func (a *App) metricFamilies() []metrics.Labelled {
	counter := prometheus.CounterValue
	rows := []metrics.Labelled{
		{Name: "refusals_total", Help: "Requests refused, by reason.", Label: "reason", Type: counter, Read: func(yield func(string, float64)) {
			refused := a.pipeline.Stats().Refused
			for r := pipeline.NotRefused + 1; r < pipeline.NumReasons; r++ {
				yield(r.Code(), float64(refused[r]))
			}
		}},
		{Name: "strikes_total", Help: "Acts that count against a client.", Label: "act", Type: counter, Read: func(yield func(string, float64)) {
			for k, n := range a.pipeline.Stats().Strikes {
				yield(pipeline.Strike(k).String(), float64(n))
			}
		}},
		{Name: "stage_entered_total", Help: "Visits that entered a stage.", Label: "stage", Type: counter, Read: func(yield func(string, float64)) {
			for _, s := range a.pipeline.Stats().Stages {
				yield(s.Name, float64(s.Entered))
			}
		}},
		{Name: "connections_refused_total", Help: "Connections refused, by reason.", Label: "reason", Type: counter, Read: a.connectionRefusals},
		{Name: "priority_requests_total", Help: "Page requests, by the rank of their visitor.", Label: "rank", Type: counter, Read: a.priorityRequests},
	}
	return slices.Concat(rows, a.tlsFamilies(), a.roomFamilies(), gateFamilies(a.gateViews))
}
