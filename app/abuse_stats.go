package app

import (
	"time"

	"github.com/andreimerlescu/concert/abuse"
	"github.com/andreimerlescu/concert/history"
	"github.com/andreimerlescu/concert/metrics"
	"github.com/prometheus/client_golang/prometheus"
)

// AbuseStats are the part of [Stats] about bans and what is remembered of
// clients.
type AbuseStats struct {
	AbuseEnabled   bool   `json:"abuse_enabled"`
	AbuseTracked   int    `json:"abuse_tracked"`
	AbuseRangeBans int    `json:"abuse_range_bans"`
	AbuseStrikes   uint64 `json:"abuse_strikes_total"`
	AbuseBans      uint64 `json:"abuse_bans_total"`
	AbuseRejected  uint64 `json:"abuse_rejected_total"`
	AbuseDropped   uint64 `json:"abuse_dropped_total"`

	HistoryClients  int    `json:"history_clients"`
	HistoryDropped  uint64 `json:"history_dropped_total"`
	HistoryFailures uint64 `json:"history_log_failures_total"`
}

func (a *App) abuseStats(now time.Time) AbuseStats {
	r, h := a.abuse.Stats(now), a.history.Stats()
	return AbuseStats{
		AbuseEnabled: a.abuse.Enabled(), AbuseTracked: r.Tracked, AbuseRangeBans: r.RangeBans,
		AbuseStrikes: r.StrikesAll, AbuseBans: r.BansAll, AbuseRejected: a.stages.ban.Stats().Rejected, AbuseDropped: r.DroppedAll,
		HistoryClients: h.Clients, HistoryDropped: h.Dropped, HistoryFailures: h.Failures,
	}
}

// abuseRows is the part of the table of metrics about bans and the history.
func (a *App) abuseRows() []metrics.Row {
	gauge, counter := prometheus.GaugeValue, prometheus.CounterValue
	ofRegistry := func(read func(abuse.Stats) float64) func() float64 {
		return func() float64 { return read(a.abuse.Stats(time.Now())) }
	}
	ofHistory := func(read func(history.Stats) float64) func() float64 {
		return func() float64 { return read(a.history.Stats()) }
	}
	return []metrics.Row{
		{Name: "abuse_tracked", Help: "Clients in the abuse registry.", Type: gauge, Value: ofRegistry(func(s abuse.Stats) float64 { return float64(s.Tracked) })},
		{Name: "abuse_range_bans", Help: "Ranges banned now.", Type: gauge, Value: ofRegistry(func(s abuse.Stats) float64 { return float64(s.RangeBans) })},
		{Name: "abuse_bans_total", Help: "Bans made.", Type: counter, Value: ofRegistry(func(s abuse.Stats) float64 { return float64(s.BansAll) })},
		{Name: "abuse_rejected_total", Help: "Requests of banned clients refused.", Type: counter, Value: func() float64 { return float64(a.stages.ban.Stats().Rejected) }},
		{Name: "abuse_dropped_total", Help: "Acts dropped because the registry was full of bans.", Type: counter, Value: ofRegistry(func(s abuse.Stats) float64 { return float64(s.DroppedAll) })},
		{Name: "history_clients", Help: "Clients in the request history.", Type: gauge, Value: ofHistory(func(s history.Stats) float64 { return float64(s.Clients) })},
		{Name: "history_dropped_total", Help: "Events that did not fit the queue to the history log.", Type: counter, Value: ofHistory(func(s history.Stats) float64 { return float64(s.Dropped) })},
		{Name: "history_log_failures_total", Help: "Failed attempts to write the history log.", Type: counter, Value: ofHistory(func(s history.Stats) float64 { return float64(s.Failures) })},
	}
}
