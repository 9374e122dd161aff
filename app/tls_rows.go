package app

import (
	"github.com/andreimerlescu/concert/metrics"
	"github.com/prometheus/client_golang/prometheus"
)

// tlsRows are the rows of what is said over TLS.
func (a *App) tlsRows() []metrics.Row {
	return []metrics.Row{
		{Name: "tls_faults", Help: "What is wrong with certificates at present: the authority complains, changed files cannot be used, the cache directory cannot be written.", Type: prometheus.GaugeValue, Value: func() float64 { return float64(a.certs.Stats().Faults()) }},
		{Name: "tls_handshake_errors_total", Help: "Connections that ended before their TLS handshake had.", Type: prometheus.CounterValue, Value: func() float64 { return float64(a.certs.Stats().HandshakeErrors) }},
		{Name: "tls_unknown_names_total", Help: "TLS handshakes for a name that there is no certificate for.", Type: prometheus.CounterValue, Value: func() float64 { return float64(a.certs.Stats().UnknownNames) }},
	}
}

// tlsFamilies are those with a label.
func (a *App) tlsFamilies() []metrics.Labelled {
	return []metrics.Labelled{
		{Name: "tls_handshakes_total", Help: "TLS handshakes, full or resumed by a session ticket.", Label: "kind", Type: prometheus.CounterValue, Read: func(yield func(string, float64)) {
			s := a.certs.Stats()
			yield("full", float64(s.HandshakesFull))
			yield("resumed", float64(s.HandshakesResumed))
		}},
		{Name: "tls_certificate_end_seconds", Help: "When the time of a certificate is over, in Unix time; 0 while there is none.", Label: "name", Type: prometheus.GaugeValue, Read: a.certificateEnds},
	}
}

// certificateEnds yields every name once: the certificate that is served for it
// comes first.
func (a *App) certificateEnds(yield func(string, float64)) {
	seen := make(map[string]bool)
	for _, c := range a.certs.Stats().Certificates {
		end := 0.0
		if c.NotAfter != nil {
			end = float64(c.NotAfter.Unix())
		}
		for _, name := range c.Names {
			if !seen[name] {
				seen[name] = true
				yield(name, end)
			}
		}
	}
}
