package certs

import (
	"crypto/tls"
	"net"
	"net/http"

	"golang.org/x/crypto/acme"
)

// Config is the configuration for servers that do not take a net.Listener. It
// follows every change; do not change it.
func (m *Manager) Config() *tls.Config { return m.config }

// suites are those of TLS 1.2 with forward secrecy and authenticated
// encryption; crypto/tls orders them, and has its own of TLS 1.3. What does
// without is older than 2014.
var suites = []uint16{
	tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
	tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
	tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
}

// newConfig is the one of all handshakes. Key exchanges are as package
// crypto/tls has them: first one that holds out against quantum computers.
func (m *Manager) newConfig() *tls.Config {
	c := &tls.Config{
		MinVersion:     tls.VersionTLS12,
		CipherSuites:   suites,
		NextProtos:     []string{"h2", "http/1.1", acme.ALPNProto},
		GetCertificate: m.certificate,
		VerifyConnection: func(cs tls.ConnectionState) error {
			if cs.DidResume {
				m.resumed.Add(1)
			} else {
				m.full.Add(1)
			}
			return nil
		},
	}
	bind(c)
	return c
}

// certificate is the tls.Config's GetCertificate. Nil without an error ends the
// handshake with unrecognized_name.
func (m *Manager) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	p := m.plan.Load()
	name := folded(hello.ServerName)
	var w *wanted
	if p.authority != nil {
		w = p.authority.wanted[name]
	}
	if isChallenge(hello) {
		if w == nil {
			return nil, nil
		}
		return w.from(hello)
	}
	if c := p.files.pick(name, hello); c != nil {
		return c, nil
	}
	if w != nil {
		return w.certificate(hello)
	}
	usual := p.files.usual()
	if name != "" || usual == nil {
		m.unknown.Add(1)
	}
	return usual, nil
}

// isChallenge reports whether an authority asks for its proof (RFC 8737).
func isChallenge(hello *tls.ClientHelloInfo) bool {
	return len(hello.SupportedProtos) == 1 && hello.SupportedProtos[0] == acme.ALPNProto
}

// ConnState is for http.Server's field of that name: it counts connections that
// ended before their handshake had.
func (m *Manager) ConnState(c net.Conn, state http.ConnState) {
	if state != http.StateClosed {
		return
	}
	if t, ok := c.(*tls.Conn); ok && !t.ConnectionState().HandshakeComplete {
		m.failed.Add(1)
	}
}
