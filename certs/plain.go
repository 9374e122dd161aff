package certs

import (
	"net"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// challengePath is where an authority looks for the proof of HTTP-01.
const challengePath = "/.well-known/acme-challenge/"

// Plain is for a listener without TLS: it answers challenges of the authority,
// and sends all else to the same address by https, with the method and body as
// they are. While there is no certificate, next serves.
//
// port is where the TLS listener is; it is named to clients that came with a
// port themselves. Those that did not came to port 80, whoever forwarded it,
// and find 443 beside it.
func (m *Manager) Plain(next http.Handler, port string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !m.Enabled() {
			next.ServeHTTP(w, r)
			return
		}
		p := m.plan.Load()
		if a := p.authority; a != nil && a.answers != nil && strings.HasPrefix(r.URL.Path, challengePath) && a.allows(r.Context(), r.Host) == nil {
			a.answers.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Cache-Control", "no-store") // a setting can be taken back
		w.Header().Set("Connection", "close")       // what comes next comes elsewhere
		target := p.secure(r, port)
		if target == "" {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte("This address is served by https.\n")) // the client may have left
			return
		}
		http.Redirect(w, r, target, http.StatusPermanentRedirect)
	})
}

// secure is the address of the request by https, "" where none can be made.
func (p *Plan) secure(r *http.Request, port string) string {
	host, came, err := net.SplitHostPort(r.Host)
	if err != nil {
		host, came = r.Host, ""
	}
	if !httpguts.ValidHostHeader(host) || host == "" || !strings.HasPrefix(r.RequestURI, "/") {
		return ""
	}
	host = folded(host)
	if !p.knows(host) {
		host = p.mainName()
	}
	if host == "" {
		return ""
	}
	if came != "" && port != "" && port != "443" {
		host = net.JoinHostPort(host, port)
	}
	return "https://" + host + r.RequestURI
}

// knows reports whether there is a certificate for the name, or is to be one.
func (p *Plan) knows(name string) bool {
	if p.authority != nil && p.authority.wanted[name] != nil || p.files.names[name] != nil {
		return true
	}
	_, rest, ok := strings.Cut(name, ".")
	return ok && p.files.names["*."+rest] != nil || slices.ContainsFunc(p.files.pairs, func(l loaded) bool {
		return l.cert.Leaf.VerifyHostname(name) == nil // addresses
	})
}

// mainName is where to send those who came by a name that there is no
// certificate for, such as the machine's address.
func (p *Plan) mainName() string {
	if p.authority != nil {
		return p.authority.config.Domains[0]
	}
	for _, name := range p.files.pairs[0].cert.Leaf.DNSNames {
		if !strings.HasPrefix(name, "*.") {
			return name
		}
	}
	return ""
}
