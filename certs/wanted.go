package certs

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// patience is how long a visitor's handshake waits for a certificate that
	// is being asked for.
	patience = 10 * time.Second
	// firstPause is the time between two attempts; it doubles up to lastPause.
	// A new authority allows five failures of a name in an hour.
	firstPause = 2 * time.Minute
	lastPause  = time.Hour
)

// wanted is a name that the authority is to certify.
type wanted struct {
	name string
	from func(*tls.ClientHelloInfo) (*tls.Certificate, error)
	why  func() string // what the authority complained of
	log  *slog.Logger
	// turns bounds how many names are asked for at once; they share it.
	turns chan struct{}

	leaf atomic.Pointer[x509.Certificate] // what is served; nil for none yet

	mu       sync.Mutex    // guards the fields below
	running  chan struct{} // closed at the end of the attempt under way; nil for none
	failures int
	next     time.Time // no attempt before
	err      error     // of the last attempt
}

// certificate returns the one to serve. Where there is none yet, it has it
// asked for, unless that was tried a moment ago, and waits for a while.
func (w *wanted) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if w.leaf.Load() == nil {
		if err := w.await(hello); err != nil {
			return nil, err
		}
	}
	c, err := w.from(capable(hello))
	if err == nil && c.Leaf != nil && c.Leaf != w.leaf.Load() {
		w.leaf.Store(c.Leaf)
	}
	return c, err
}

func (w *wanted) await(hello *tls.ClientHelloInfo) error {
	if running := w.attempt(time.Now()); running != nil {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		var left <-chan struct{}
		if ctx := hello.Context(); ctx != nil { // nil outside a handshake
			left = ctx.Done()
		}
		select {
		case <-running:
		case <-timer.C:
		case <-left:
		}
	}
	if w.leaf.Load() != nil {
		return nil
	}
	return w.trouble()
}

// attempt has the certificate asked for if it is missing and the time has come.
// What it returns is closed at the end of the attempt; nil when none runs.
func (w *wanted) attempt(now time.Time) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running != nil || w.leaf.Load() != nil || now.Before(w.next) {
		return w.running
	}
	w.running = make(chan struct{})
	go w.obtain(w.running) // ends with its turn, for which autocert has a limit of five minutes
	return w.running
}

// obtain asks for the certificate. autocert looks into its cache first.
func (w *wanted) obtain(done chan struct{}) {
	defer close(done)
	w.turns <- struct{}{}
	defer func() { <-w.turns }()
	c, err := w.from(&tls.ClientHelloInfo{ServerName: w.name, CipherSuites: modern})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running, w.err = nil, err
	if err == nil {
		w.leaf.Store(c.Leaf)
		w.failures = 0
		return
	}
	if why := w.why(); why != "" { // autocert says only that it was in vain
		w.err = fmt.Errorf("%s (%w)", why, err)
	}
	pause := min(firstPause<<min(w.failures, 10), lastPause)
	w.failures++
	w.next = time.Now().Add(pause)
	w.log.Error("no certificate could be had", "name", w.name, "error", w.err, "next_attempt_in", pause)
}

// hurry lets the next attempt be made at once.
func (w *wanted) hurry() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next, w.failures = time.Time{}, 0
}

// renewed notes another certificate, and reports whether there was one before.
func (w *wanted) renewed(leaf *x509.Certificate) bool { return w.leaf.Swap(leaf) != nil }

// trouble is why there is no certificate.
func (w *wanted) trouble() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		return fmt.Errorf("certs: the certificate of %s is being asked for", w.name)
	}
	return fmt.Errorf("certs: no certificate for %s: %w", w.name, w.err)
}

// modern makes autocert see that a client takes ECDSA: it looks for a suite of
// TLS 1.2, which a client of TLS 1.3 need not name.
var modern = []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}

// capable is hello with modern suites, if it is one of TLS 1.3.
func capable(hello *tls.ClientHelloInfo) *tls.ClientHelloInfo {
	if !slices.Contains(hello.SupportedVersions, tls.VersionTLS13) || slices.Contains(hello.CipherSuites, modern[0]) {
		return hello
	}
	h := *hello
	h.CipherSuites = modern
	return &h
}
