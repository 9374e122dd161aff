package app

import (
	"time"

	"github.com/andreimerlescu/concert/certs"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/portal"
)

// Stats is the answer of GET /_room/stats. It holds no secret: the endpoint is
// open to everyone who can reach it.
type Stats struct {
	Upstream       string  `json:"upstream"` // without user and password
	Cap            int     `json:"cap"`
	Occupancy      int     `json:"occupancy"`
	QueueDepth     int     `json:"queue_depth"`      // every ticket, whether its owner is still there or not
	LiveQueueDepth int     `json:"live_queue_depth"` // tickets whose owners were seen lately
	MaxQueueDepth  int     `json:"max_queue_depth"`
	Utilization    float64 `json:"utilization"`
	Room           string  `json:"room"`
	TokenTTL       string  `json:"token_ttl"`
	FirstPollGrace string  `json:"first_poll_grace"`

	AtDoor               int     `json:"at_door"`
	Called               int     `json:"called"`
	MeanHoldMS           float64 `json:"mean_hold_ms"`
	AdmissionsPerSecond  float64 `json:"admissions_per_second"`
	WaitP50MS            int64   `json:"wait_p50_ms"`
	WaitP95MS            int64   `json:"wait_p95_ms"`
	OriginP50MS          int64   `json:"origin_latency_p50_ms"`
	OriginP95MS          int64   `json:"origin_latency_p95_ms"`
	QueuedTotal          uint64  `json:"queued_total"`
	AdmittedTotal        uint64  `json:"admitted_total"`
	EvictedTotal         uint64  `json:"evicted_total"`
	TimeoutsTotal        uint64  `json:"timeouts_total"`
	PromotedTotal        uint64  `json:"promoted_total"`
	RemovedTotal         uint64  `json:"removed_total"`
	PassedOverTotal      uint64  `json:"passed_over_total"`
	ReturnedTotal        uint64  `json:"returned_total"`
	QueueRefusedTotal    uint64  `json:"queue_refused_total"`
	AssetCap             int     `json:"asset_cap"`
	AssetInFlight        int     `json:"asset_in_flight"`
	AssetUsers           int     `json:"asset_users"`
	AssetUserCapH1       int     `json:"asset_user_cap_h1"`
	AssetUserCapH2       int     `json:"asset_user_cap_h2"`
	AssetServedTotal     uint64  `json:"asset_served_total"`
	AssetDeniedTotal     uint64  `json:"asset_denied_total"`
	AssetUserThrottled   uint64  `json:"asset_user_throttled_total"`
	AssetGlobalThrottled uint64  `json:"asset_global_throttled_total"`
	StreamCap            int     `json:"stream_cap"`
	StreamActive         int     `json:"stream_active"`
	StreamServedTotal    uint64  `json:"stream_served_total"`
	StreamDeniedTotal    uint64  `json:"stream_denied_total"`
	StreamThrottledTotal uint64  `json:"stream_throttled_total"`

	PriorityStats
	AbuseStats

	Rooms []RoomStats `json:"rooms,omitempty"` // beside the default one, which all of the above is about

	Fleet *fleetView `json:"fleet,omitempty"` // with a line that is shared
	ConnectionStats

	TLS certs.Stats `json:"tls"`

	StorageFaults []portal.Fault `json:"storage_faults"` // what cannot be saved at present

	Refused map[string]uint64     `json:"refused"` // by reason; zero ones left out
	Strikes map[string]uint64     `json:"strikes"` // by act; zero ones left out
	Stages  []pipeline.StageStats `json:"stages"`  // in the order a request meets them
}

// Stats reads every counter.
func (a *App) Stats() Stats {
	now := time.Now()
	l, p := a.line.Stats(now), a.pipeline.Stats()
	s := Stats{
		Upstream: a.cfg.Load().UpstreamName(), Room: l.Settings.Mode.String(),
		Cap: l.Settings.Policy.Cap, Occupancy: l.InFlight, QueueDepth: l.Live, LiveQueueDepth: l.Present,
		MaxQueueDepth: l.Settings.MaxWaiting, Utilization: l.Utilization,
		TokenTTL: l.Settings.TTL.String(), FirstPollGrace: l.Settings.FirstPollGrace.String(),
		AtDoor: l.AtDoor, Called: l.Called,
		MeanHoldMS: float64(l.MeanHold.Microseconds()) / 1000, AdmissionsPerSecond: l.AdmissionRate,
		WaitP50MS: a.requests.Wait.Quantile(0.5).Milliseconds(), WaitP95MS: a.requests.Wait.Quantile(0.95).Milliseconds(),
		OriginP50MS: a.requests.Origin.Quantile(0.5).Milliseconds(), OriginP95MS: a.requests.Origin.Quantile(0.95).Milliseconds(),
		QueuedTotal: l.QueuedTotal, AdmittedTotal: l.AdmittedTotal, EvictedTotal: l.EvictedTotal,
		TimeoutsTotal: l.TimeoutsTotal, PromotedTotal: l.PromotedTotal, RemovedTotal: l.RemovedTotal,
		PassedOverTotal: l.PassedTotal, ReturnedTotal: l.ReturnedTotal, QueueRefusedTotal: l.RefusedTotal,
		Refused: map[string]uint64{}, Strikes: map[string]uint64{}, Stages: p.Stages,
		StorageFaults: a.faults(false), Fleet: a.fleetView(), TLS: a.certs.Stats(),
	}
	a.tierStats(&s)
	s.Rooms = a.roomStats(now)
	s.PriorityStats = a.priorityStats(s.Cap)
	s.AbuseStats = a.abuseStats(now)
	s.ConnectionStats = a.connectionStats()
	for r, n := range p.Refused {
		if n > 0 {
			s.Refused[pipeline.Reason(r).Code()] = n
		}
	}
	for k, n := range p.Strikes {
		if n > 0 {
			s.Strikes[pipeline.Strike(k).String()] = n
		}
	}
	return s
}

// tierStats fills in the tiers beside the line.
func (a *App) tierStats(s *Stats) {
	as, st, pa := a.stages.assets.Stats(), a.stages.streams.Stats(), a.stages.pass.Stats()
	s.AssetCap, s.AssetInFlight, s.AssetUsers = as.Caps.Global, as.InFlight, as.Users
	s.AssetUserCapH1, s.AssetUserCapH2 = as.Caps.UserH1, as.Caps.UserH2
	s.AssetServedTotal, s.AssetDeniedTotal = as.Served, pa.AssetDenied
	s.AssetUserThrottled, s.AssetGlobalThrottled = as.UserThrottled, as.GlobalThrottled
	s.StreamCap, s.StreamActive, s.StreamServedTotal = st.Cap, st.Active, st.Served
	s.StreamDeniedTotal, s.StreamThrottledTotal = pa.StreamDenied, st.Throttled
}
