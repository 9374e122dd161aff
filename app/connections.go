package app

import (
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/listener"
	"github.com/andreimerlescu/concert/metrics"
	"github.com/andreimerlescu/concert/pipeline"
)

// guardConfig is the part of the configuration that connections are guarded by.
func guardConfig(c *config.Config, log *slog.Logger) listener.Config {
	most := c.MaxConns
	if most == 0 {
		most = listener.Room()
	}
	return listener.Config{
		MaxConns: most, MaxPerClient: c.MaxConnsPerClient,
		ProxyProtocol: c.ProxyProtocol, HeaderTimeout: c.ReadHeaderTimeout,
		Proxies: c.TrustedProxies, Allow: c.AbuseAllow, Streams: streams(c), Log: log,
	}
}

// resets watches for clients that ask only to take the request back: over
// HTTP/2 and HTTP/3 that costs them next to nothing. What a proxy sends comes
// from many people, whose departures are not its fault.
type resets struct{}

var _ pipeline.Observer = resets{}

// Observe implements pipeline.Observer.
func (resets) Observe(v *pipeline.Visit) {
	if v.R.ProtoMajor < 2 || v.Client.PeerTrusted || v.R.Context().Err() == nil {
		return
	}
	if listener.Reset(v.R.Context(), time.Now()) {
		v.Strike(pipeline.StrikeResets)
	}
}

// ConnectionStats are the part of [Stats] about connections.
type ConnectionStats struct {
	Connections       int               `json:"connections"`
	ConnectionsMax    int               `json:"connections_max"` // 0: no limit
	ConnectionClients int               `json:"connection_clients"`
	ConnectionsShed   uint64            `json:"connections_shed_total"`
	ConnectionsReset  uint64            `json:"connections_reset_total"`
	ConnectionsDenied map[string]uint64 `json:"connections_refused"` // by reason
}

func (a *App) connectionStats() ConnectionStats {
	s := a.guard.Stats()
	return ConnectionStats{
		Connections: s.Open, ConnectionsMax: s.Limit, ConnectionClients: s.Clients,
		ConnectionsShed: s.Shed, ConnectionsReset: s.Resets, ConnectionsDenied: s.Refused,
	}
}

// connectionRows is the part of the table of metrics about connections.
func (a *App) connectionRows() []metrics.Row {
	gauge, counter := prometheus.GaugeValue, prometheus.CounterValue
	return []metrics.Row{
		{Name: "connections", Help: "Connections of clients open now.", Type: gauge, Value: func() float64 { return float64(a.guard.Stats().Open) }},
		{Name: "connections_max", Help: "Most connections at once; 0 for no limit.", Type: gauge, Value: func() float64 { return float64(a.guard.Stats().Limit) }},
		{Name: "connection_clients", Help: "Clients with a connection open now.", Type: gauge, Value: func() float64 { return float64(a.guard.Stats().Clients) }},
		{Name: "connections_shed_total", Help: "Waiting connections closed to make room for others.", Type: counter, Value: func() float64 { return float64(a.guard.Stats().Shed) }},
		{Name: "connections_reset_total", Help: "Connections closed because their client took back hundreds of requests.", Type: counter, Value: func() float64 { return float64(a.guard.Stats().Resets) }},
	}
}

// connectionRefusals reads the refused connections by reason.
func (a *App) connectionRefusals(yield func(string, float64)) {
	for reason, n := range a.guard.Stats().Refused {
		yield(reason, float64(n))
	}
}
