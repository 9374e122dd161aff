package certs

import (
	"bytes"
	"crypto/tls"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/andreimerlescu/concert/internal/certtest"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// ownOf writes a pair.
func ownOf(t *testing.T, p certtest.Pair) Pair {
	t.Helper()
	cert, key := p.Write(t, t.TempDir(), "own")
	return Pair{cert, key}
}

// serve answers every connection with one byte over TLS, or with "plain".
func serve(t *testing.T, m *Manager) *rawtest.Memory {
	t.Helper()
	mem := rawtest.NewMemory()
	ln := m.Listener(mem)
	t.Cleanup(func() { _ = ln.Close() })
	go func() { // ends with the listener
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() { // ends with the connection
				defer c.Close()
				if s, ok := c.(*tls.Conn); ok {
					err := s.HandshakeContext(t.Context())
					m.ConnState(c, http.StateClosed)
					if err == nil {
						_, _ = c.Write([]byte("!")) // the client looks at it
					}
					return
				}
				_, _ = c.Write([]byte("plain"))
			}()
		}
	}()
	return mem
}

// shake makes a connection and returns what was agreed on.
func shake(t *testing.T, mem *rawtest.Memory, c *tls.Config) (tls.ConnectionState, error) {
	t.Helper()
	raw, err := mem.Dial(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close() // no farewell: a pipe waits for its reader
	conn := tls.Client(raw, c)
	if err := conn.HandshakeContext(t.Context()); err != nil {
		return tls.ConnectionState{}, err
	}
	_, err = conn.Read(make([]byte, 1)) // tickets of TLS 1.3 come with it
	return conn.ConnectionState(), err
}

func TestWhichCertificate(t *testing.T) {
	ca := certtest.New(t)
	ecdsa := ca.Issue(t, certtest.Names("site.test", "*.site.test"))
	rsa := ca.IssueRSA(t, certtest.Names("site.test"))
	other := ca.Issue(t, certtest.Names("other.test"))
	m := managerOf(t, Config{Files: []Pair{ownOf(t, ecdsa), ownOf(t, rsa), ownOf(t, other)}})
	mem := serve(t, m)
	f := func(name string, want certtest.Pair, edit func(*tls.Config)) {
		t.Helper()
		c := &tls.Config{ServerName: name, InsecureSkipVerify: true} // which one comes is the question
		if edit != nil {
			edit(c)
		}
		s, err := shake(t, mem, c)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		if !s.PeerCertificates[0].Equal(want.Leaf) {
			t.Errorf("%s: got the one of %v", name, s.PeerCertificates[0].DNSNames)
		}
	}
	onlyRSA := func(c *tls.Config) {
		c.MaxVersion, c.CipherSuites = tls.VersionTLS12, []uint16{tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256}
	}
	f("site.test", ecdsa, nil)
	f("SITE.Test", ecdsa, nil)
	f("site.test", rsa, onlyRSA)
	f("www.site.test", ecdsa, nil)
	f("other.test", other, nil)
	if s := m.Stats(); s.UnknownNames != 0 || s.HandshakesFull != 5 {
		t.Errorf("%d unknown names, %d handshakes", s.UnknownNames, s.HandshakesFull)
	}
	f("a.www.site.test", ecdsa, nil)
	f("stranger.test", ecdsa, nil)
	f("", ecdsa, nil)
	if s := m.Stats(); s.UnknownNames != 2 {
		t.Errorf("%d unknown names, want 2: no name is not unknown", s.UnknownNames)
	}
}

// TestHandshakeTerms: what is agreed on with clients of today, and that those
// of long ago are refused.
func TestHandshakeTerms(t *testing.T) {
	ca := certtest.New(t)
	m := managerOf(t, Config{Files: []Pair{own(t, ca, "site.test")}})
	mem := serve(t, m)
	c := &tls.Config{ServerName: "site.test", RootCAs: ca.Pool(), NextProtos: []string{"h2", "http/1.1"}}
	s, err := shake(t, mem, c)
	if err != nil {
		t.Fatal(err)
	}
	if s.Version != tls.VersionTLS13 || s.CurveID != tls.X25519MLKEM768 || s.NegotiatedProtocol != "h2" {
		t.Errorf("version %x, key exchange %v, protocol %q", s.Version, s.CurveID, s.NegotiatedProtocol)
	}
	c.NextProtos, c.MaxVersion = []string{"http/1.1"}, tls.VersionTLS12
	if s, err = shake(t, mem, c); err != nil || s.NegotiatedProtocol != "http/1.1" || s.CurveID != tls.X25519 {
		t.Errorf("TLS 1.2: %v, %q, %v", err, s.NegotiatedProtocol, s.CurveID)
	}
	c.CipherSuites = []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA, tls.TLS_RSA_WITH_AES_128_GCM_SHA256}
	if _, err = shake(t, mem, c); err == nil {
		t.Error("a suite without authenticated encryption or forward secrecy is accepted")
	}
	c.CipherSuites, c.MinVersion, c.MaxVersion = nil, tls.VersionTLS10, tls.VersionTLS11
	if _, err = shake(t, mem, c); err == nil {
		t.Error("TLS 1.1 is accepted")
	}
	rawtest.Until(t, "the failures are counted", func() bool { return m.Stats().HandshakeErrors == 2 })
}

func TestPlanJoinsProblems(t *testing.T) {
	file := write(t, t.TempDir(), "file", nil)
	m := managerOf(t, Config{Files: []Pair{own(t, certtest.New(t), "site.test")}})
	_, err := m.Plan(Config{Files: []Pair{{"/no/such.pem", file}}, Domains: []string{"site.test"}, Cache: file})
	if err == nil || !strings.Contains(err.Error(), "/no/such.pem") || !strings.Contains(err.Error(), "-tls-cache") {
		t.Errorf("%v", err)
	}
	if !m.Enabled() || len(m.Stats().Certificates) != 1 {
		t.Error("a plan that failed changed something")
	}
}

// TestTLSComesAndGoes with the plan, on the same listener.
func TestTLSComesAndGoes(t *testing.T) {
	ca := certtest.New(t)
	m := New(Options{})
	mem := serve(t, m)
	// Silence is told from a byte that is late by patience alone.
	plain := func(patience time.Duration) bool {
		c, err := mem.Dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		n, _ := c.Read(make([]byte, 5)) // a TLS server waits for the client
		return n > 0
	}
	if !plain(time.Minute) {
		t.Error("TLS without a certificate")
	}
	p, err := m.Plan(Config{Files: []Pair{own(t, ca, "site.test")}})
	if err != nil {
		t.Fatal(err)
	}
	m.Use(p)
	if plain(50 * time.Millisecond) {
		t.Error("no TLS although there is a certificate")
	}
	if _, err := shake(t, mem, &tls.Config{ServerName: "site.test", RootCAs: ca.Pool()}); err != nil {
		t.Error(err)
	}
	if p, err = m.Plan(Config{}); err != nil {
		t.Fatal(err)
	}
	m.Use(p)
	if !plain(time.Minute) {
		t.Error("TLS after the certificate was taken away")
	}
}

// TestEndsAreWarnedOf once a day, when a certificate was not renewed.
func TestEndsAreWarnedOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ca, now := certtest.New(t), time.Now()
		pair := ownOf(t, ca.Issue(t, certtest.Names("site.test"), certtest.From(now, now.Add(80*24*time.Hour))))
		var log bytes.Buffer
		m := New(Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
		p, err := m.Plan(Config{Files: []Pair{pair}})
		if err != nil {
			t.Fatal(err)
		}
		m.Use(p)
		for range 4 * 81 {
			m.look(t.Context(), time.Now())
			time.Sleep(6 * time.Hour)
		}
		soon, over := strings.Count(log.String(), "ends soon"), strings.Count(log.String(), "is over")
		if soon != 7 || over != 1 || !strings.Contains(log.String(), "site.test") {
			t.Errorf("%d warnings before the end, %d after; want 7 and 1:\n%s", soon, over, &log)
		}
	})
}

// TestHalfACopyIsNotReported: only what is wrong at two looks is.
func TestHalfACopyIsNotReported(t *testing.T) {
	ca, dir := certtest.New(t), t.TempDir()
	cert, key := ca.Issue(t, certtest.Names("site.test")).Write(t, dir, "site")
	var log bytes.Buffer
	m := New(Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	p, err := m.Plan(Config{Files: []Pair{{cert, key}}})
	if err != nil {
		t.Fatal(err)
	}
	m.Use(p)
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	m.look(t.Context(), time.Now())
	if strings.Contains(log.String(), "not used") || m.Stats().FileError == "" {
		t.Errorf("at the first look: stats %q, log %s", m.Stats().FileError, &log)
	}
	for range 5 {
		m.look(t.Context(), time.Now())
	}
	if n := strings.Count(log.String(), "not used"); n != 1 {
		t.Errorf("%d reports:\n%s", n, &log)
	}
	fresh := ca.Issue(t, certtest.Names("site.test"))
	fresh.Write(t, dir, "site")
	if err := m.Refresh(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "certificate read again") || !m.plan.Load().files.usual().Leaf.Equal(fresh.Leaf) {
		t.Errorf("the new one is not in use:\n%s", &log)
	}
	m.look(t.Context(), time.Now())
	if got := m.Stats().FileError; got != "" {
		t.Errorf("still %q", got)
	}
}
