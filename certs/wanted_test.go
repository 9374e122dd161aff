package certs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestFailuresAreNotRepeatedOnDemand: however many come, the authority is asked
// again only after a pause, which grows; a success ends it.
func TestFailuresAreNotRepeatedOnDemand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var pauses []time.Duration
		last := time.Now()
		fails := true
		w := &wanted{name: "site.test", why: func() string { return "" }, log: slog.New(slog.DiscardHandler), turns: make(chan struct{}, 1)}
		w.from = func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			if hello.ServerName == "site.test" && w.leaf.Load() == nil {
				pauses = append(pauses, time.Since(last).Round(time.Minute))
				last = time.Now()
			}
			time.Sleep(time.Second)
			if fails {
				return nil, errors.New("no way")
			}
			return &tls.Certificate{Leaf: new(x509.Certificate)}, nil
		}
		for range 3 * 60 * 6 { // strangers, and the manager's own look
			w.attempt(time.Now())
			if _, err := w.certificate(new(tls.ClientHelloInfo)); err == nil {
				t.Fatal("there is a certificate")
			}
			time.Sleep(9 * time.Second)
		}
		want := []time.Duration{0, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 16 * time.Minute, 32 * time.Minute, time.Hour}
		if !slices.Equal(pauses, want) {
			t.Errorf("asked after pauses of %v, want %v", pauses, want)
		}
		fails = false
		w.hurry()
		if c, err := w.certificate(new(tls.ClientHelloInfo)); err != nil || c == nil {
			t.Errorf("once it can be had: %v", err)
		}
	})
}

// TestVisitorsWaitForTheFirstCertificate, but not for ever.
func TestVisitorsWaitForTheFirstCertificate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate, asked := make(chan struct{}), 0
		w := &wanted{name: "site.test", why: func() string { return "" }, log: slog.New(slog.DiscardHandler), turns: make(chan struct{}, 1)}
		w.from = func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			if w.leaf.Load() == nil {
				asked++
				<-gate
			}
			return &tls.Certificate{Leaf: new(x509.Certificate)}, nil
		}
		began := time.Now()
		if _, err := w.certificate(new(tls.ClientHelloInfo)); err == nil || time.Since(began) != patience {
			t.Errorf("%v after %v, want an error after %v", err, time.Since(began), patience)
		}
		done := make(chan error, 50)
		for range cap(done) {
			go func() { // ends with the certificate
				_, err := w.certificate(new(tls.ClientHelloInfo))
				done <- err
			}()
		}
		synctest.Wait()
		close(gate)
		for range cap(done) {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if asked != 1 {
			t.Errorf("the authority was asked %d times", asked)
		}
	})
}

// TestCapable: a client of TLS 1.3 alone must not cost an RSA certificate.
func TestCapable(t *testing.T) {
	only13 := &tls.ClientHelloInfo{SupportedVersions: []uint16{tls.VersionTLS13}, CipherSuites: []uint16{tls.TLS_AES_128_GCM_SHA256}}
	if got := capable(only13); !slices.Equal(got.CipherSuites, modern) || len(only13.CipherSuites) != 1 {
		t.Errorf("suites %x", got.CipherSuites)
	}
	old := &tls.ClientHelloInfo{SupportedVersions: []uint16{tls.VersionTLS12}, CipherSuites: []uint16{tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256}}
	if capable(old) != old {
		t.Error("an old client is taken for a new one")
	}
}
