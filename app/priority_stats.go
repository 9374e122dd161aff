package app

import (
	"github.com/andreimerlescu/concert/metrics"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/stages/priority"
	"github.com/andreimerlescu/concert/stages/skip"
	"github.com/prometheus/client_golang/prometheus"
)

// PriorityStats are the part of [Stats] about ranks, the lane and sold places.
type PriorityStats struct {
	LaneCap      int    `json:"priority_lane_cap"`
	LaneInFlight int    `json:"priority_lane_in_flight"`
	LaneWaiting  int    `json:"priority_lane_waiting"`
	LaneServed   uint64 `json:"priority_lane_served_total"`
	LaneFull     uint64 `json:"priority_lane_full_total"`
	Forms        uint64 `json:"priority_forms_total"`
	FormsRefused uint64 `json:"priority_forms_refused_total"`
	Grants       uint64 `json:"priority_grants_total"`
	Cleared      uint64 `json:"priority_cleared_total"`
	Rejected     uint64 `json:"priority_rejected_total"`
	Outdated     uint64 `json:"priority_outdated_total"`

	Requests map[string]uint64 `json:"priority_requests"` // by rank

	SkipPromoted uint64 `json:"skip_promoted_total"`
	SkipRepeated uint64 `json:"skip_repeated_total"`
	SkipRefused  uint64 `json:"skip_refused_total"`
	PassShared   uint64 `json:"skip_pass_shared_total"`
}

// priorityStats reads the two stages. The lane's size is what it would be now:
// the stage itself learns of it with the first visit that looks for a slot.
func (a *App) priorityStats(pageCap int) PriorityStats {
	p, k := a.stages.priority.Stats(), a.stages.skip.Stats()
	s := PriorityStats{
		LaneCap: priority.LaneSlots(a.cfg.Load().PriorityCap, pageCap), LaneInFlight: p.LaneInFlight, LaneWaiting: p.LaneWaiting,
		LaneServed: p.Served, LaneFull: p.Full, Forms: p.Forms, FormsRefused: p.FormsRefused,
		Grants: p.Grants, Cleared: p.Cleared, Rejected: p.Rejected, Outdated: p.Outdated,
		Requests:     make(map[string]uint64, pipeline.NumRanks),
		SkipPromoted: k.Promoted, SkipRepeated: k.Repeated, SkipRefused: k.Refused, PassShared: k.Shared,
	}
	for r, n := range p.Requests {
		s.Requests[pipeline.Rank(r).String()] = n
	}
	return s
}

// priorityRows is the part of the table of metrics about priority.
func (a *App) priorityRows() []metrics.Row {
	gauge, counter := prometheus.GaugeValue, prometheus.CounterValue
	ofLane := func(read func(priority.Stats) float64) func() float64 {
		return func() float64 { return read(a.stages.priority.Stats()) }
	}
	ofSales := func(read func(skip.Stats) float64) func() float64 {
		return func() float64 { return read(a.stages.skip.Stats()) }
	}
	return []metrics.Row{
		{Name: "priority_lane_in_flight", Help: "Slots of the priority lane in use.", Type: gauge, Value: ofLane(func(s priority.Stats) float64 { return float64(s.LaneInFlight) })},
		{Name: "priority_lane_waiting", Help: "Requests waiting for a slot of the priority lane.", Type: gauge, Value: ofLane(func(s priority.Stats) float64 { return float64(s.LaneWaiting) })},
		{Name: "priority_lane_served_total", Help: "Slots of the priority lane given.", Type: counter, Value: ofLane(func(s priority.Stats) float64 { return float64(s.Served) })},
		{Name: "priority_lane_full_total", Help: "Requests that got no slot of the priority lane.", Type: counter, Value: ofLane(func(s priority.Stats) float64 { return float64(s.Full) })},
		{Name: "priority_forms_refused_total", Help: "Forms told that they were not sent.", Type: counter, Value: ofLane(func(s priority.Stats) float64 { return float64(s.FormsRefused) })},
		{Name: "priority_grants_total", Help: "Ranks granted by the application.", Type: counter, Value: ofLane(func(s priority.Stats) float64 { return float64(s.Grants) })},
		{Name: "priority_rejected_total", Help: "Concert-Priority headers that could not be understood.", Type: counter, Value: ofLane(func(s priority.Stats) float64 { return float64(s.Rejected) })},
		{Name: "skip_promoted_total", Help: "Tickets promoted through /_room/promote.", Type: counter, Value: ofSales(func(s skip.Stats) float64 { return float64(s.Promoted) })},
		{Name: "skip_pass_shared_total", Help: "Pages asked for with a pass of somebody else, or with one that has a place in line already.", Type: counter, Value: ofSales(func(s skip.Stats) float64 { return float64(s.Shared) })},
	}
}

// priorityRequests yields page requests by rank.
func (a *App) priorityRequests(yield func(string, float64)) {
	for r, n := range a.stages.priority.Stats().Requests {
		yield(pipeline.Rank(r).String(), float64(n))
	}
}
