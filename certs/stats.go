package certs

import (
	"cmp"
	"strings"
	"time"
)

// Served is one certificate, or one that is missing.
type Served struct {
	Names    []string   `json:"names"`
	Source   string     `json:"source"`              // "file" or "acme"
	NotAfter *time.Time `json:"not_after,omitempty"` // nil while there is none
	Error    string     `json:"error,omitempty"`     // why there is none
}

// Stats are the numbers of a Manager since it was made.
type Stats struct {
	Enabled           bool       `json:"enabled"`
	Certificates      []Served   `json:"certificates"`
	HandshakesFull    uint64     `json:"handshakes_full_total"`
	HandshakesResumed uint64     `json:"handshakes_resumed_total"`
	HandshakeErrors   uint64     `json:"handshake_errors_total"` // connections that ended before their handshake had
	UnknownNames      uint64     `json:"unknown_names_total"`    // handshakes for a name that there is no certificate for
	AuthorityError    string     `json:"acme_error,omitempty"`   // what the authority last complained of, as long as that stands
	AuthorityErrorAt  *time.Time `json:"acme_error_at,omitempty"`
	CacheError        string     `json:"tls_cache_error,omitempty"` // why certificates are in memory only
	FileError         string     `json:"tls_cert_error,omitempty"`  // why changed files are not used
}

// Stats reads every counter.
func (m *Manager) Stats() Stats {
	p := m.plan.Load()
	s := Stats{
		Enabled: m.Enabled(), Certificates: p.served(),
		HandshakesFull: m.full.Load(), HandshakesResumed: m.resumed.Load(),
		HandshakeErrors: m.failed.Load(), UnknownNames: m.unknown.Load(),
	}
	m.mu.Lock()
	s.FileError = m.broken
	m.mu.Unlock()
	if a := p.authority; a != nil {
		if t := a.witness.trouble(); t.Text != "" {
			s.AuthorityError, s.AuthorityErrorAt = t.Text, &t.At
		}
		if err := a.cache.problem(); err != nil {
			s.CacheError = err.Error()
		}
	}
	return s
}

// Faults is how much of what should be in order is not at present.
func (s Stats) Faults() (n int) {
	for _, text := range []string{s.AuthorityError, s.CacheError, s.FileError} {
		if text != "" {
			n++
		}
	}
	return n
}

// served lists the certificates: those of files in their order, then those of
// the authority by name.
func (p *Plan) served() []Served {
	all := []Served{}
	for _, l := range p.files.pairs {
		leaf := l.cert.Leaf
		names := append([]string{}, leaf.DNSNames...)
		for _, a := range leaf.IPAddresses {
			names = append(names, a.String())
		}
		all = append(all, Served{Names: names, Source: "file", NotAfter: &leaf.NotAfter})
	}
	if p.authority == nil {
		return all
	}
	for _, name := range p.authority.config.Domains {
		s := Served{Names: []string{name}, Source: "acme"}
		w := p.authority.wanted[name]
		if leaf := w.leaf.Load(); leaf != nil {
			s.NotAfter = &leaf.NotAfter
		} else {
			s.Error = w.trouble().Error()
		}
		all = append(all, s)
	}
	return all
}

// warnEvery is how often the log says that a certificate will end.
const warnEvery = 24 * time.Hour

// warn logs which certificates are near their end: an eighth of their life, a
// week at most. The authority's are renewed long before that.
func (m *Manager) warn(now time.Time) {
	p := m.plan.Load()
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, end := range p.ends() {
		left := end.notAfter.Sub(now)
		if left > min(end.notAfter.Sub(end.notBefore)/8, 7*24*time.Hour) || now.Sub(m.warned[name]) < warnEvery {
			continue
		}
		m.warned[name] = now
		if left <= 0 {
			m.log.Error("the time of a certificate is over: browsers warn of the site", "names", name, "not_after", end.notAfter.UTC().Format(time.RFC3339))
			continue
		}
		m.log.Warn("a certificate was not renewed and ends soon", "names", name, "left", left.Round(time.Minute))
	}
}

// life is that of a certificate.
type life struct{ notBefore, notAfter time.Time }

// ends are the lives of all certificates, by the names they are for.
func (p *Plan) ends() map[string]life {
	all := make(map[string]life)
	for _, l := range p.files.pairs {
		names := cmp.Or(strings.Join(l.cert.Leaf.DNSNames, " "), l.Cert)
		all[names] = life{l.cert.Leaf.NotBefore, l.cert.Leaf.NotAfter}
	}
	if p.authority != nil {
		for name, w := range p.authority.wanted {
			if leaf := w.leaf.Load(); leaf != nil {
				all[name] = life{leaf.NotBefore, leaf.NotAfter}
			}
		}
	}
	return all
}
