package certs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"
)

// Directories of Let's Encrypt.
const (
	Production = "https://acme-v02.api.letsencrypt.org/directory"
	Staging    = "https://acme-staging-v02.api.letsencrypt.org/directory"
)

// authority gets certificates for names from an ACME server. It is made anew
// for another configuration.
type authority struct {
	config  Config
	manager *autocert.Manager
	cache   *cache
	witness *witness
	wanted  map[string]*wanted // by name; fixed
	answers http.Handler       // of HTTP-01; nil when there is no plain listener
}

// newAuthority prepares what c says. Nothing is asked for yet.
func newAuthority(c Config, log *slog.Logger) (*authority, error) {
	transport, err := transportTo(c.DirectoryCA)
	if err != nil {
		return nil, err
	}
	a := &authority{config: c, wanted: make(map[string]*wanted)}
	a.witness = &witness{next: transport, said: func(text string) {
		log.Warn("the certificate authority found fault", "error", text)
	}}
	a.cache = &cache{dir: autocert.DirCache(c.Cache), log: log, unsaved: make(map[string][]byte)}
	a.cache.kept = func(key string, data []byte) { a.obtained(log, key, data) }
	if a.manager, err = a.newManager(); err != nil {
		return nil, err
	}
	turns := make(chan struct{}, atOnce)
	for _, name := range c.Domains {
		a.wanted[name] = &wanted{name: name, from: a.manager.GetCertificate, log: log, turns: turns,
			why: func() string { return a.witness.trouble().Text }}
	}
	if c.HTTP01 {
		a.answers = a.manager.HTTPHandler(nil)
	}
	return a, nil
}

// newManager is autocert's part in it.
func (a *authority) newManager() (*autocert.Manager, error) {
	c := &a.config
	m := &autocert.Manager{
		Prompt:     autocert.AcceptTOS,
		Cache:      a.cache,
		HostPolicy: a.allows,
		Email:      c.Email,
		Client: &acme.Client{
			DirectoryURL: c.Directory,
			HTTPClient:   &http.Client{Transport: a.witness, Timeout: time.Minute},
			UserAgent:    "concert",
		},
	}
	if c.EABID != "" {
		key, err := EABKey(c.EABKey)
		if err != nil {
			return nil, err
		}
		m.ExternalAccountBinding = &acme.ExternalAccountBinding{KID: c.EABID, Key: key}
	}
	return m, nil
}

// atOnce is how many certificates are asked for at the same time.
const atOnce = 4

// EABKey reads the key of an external account binding (RFC 8555, section
// 7.3.4): base64url, with or without padding.
func EABKey(text string) ([]byte, error) {
	key, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil {
		return nil, errors.New("the key of the account is not base64url")
	}
	return key, nil
}

// transportTo reaches the authority, and trusts the roots in pem beside those
// of the system.
func transportTo(pem []byte) (*http.Transport, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	if len(pem) == 0 {
		return t, nil
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool() // there are none to add to
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, errors.New("the authority's own root holds no certificate")
	}
	t.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	return t, nil
}

// prepare makes the cache directory.
func (a *authority) prepare(log *slog.Logger) error {
	dir := a.config.Cache
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the cache directory of certificates: %w", err)
	}
	if openTo(dir) {
		log.Warn("other users of this machine can enter the directory with the keys of certificates; chmod 700 it", "path", dir)
	}
	return nil
}

// allows is the autocert.HostPolicy. HTTP-01 asks it with a Host header.
func (a *authority) allows(_ context.Context, host string) error {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if a.wanted[folded(host)] == nil {
		return errors.New("certs: not one of our names")
	}
	return nil
}

// obtained is called with everything that is put into the cache.
func (a *authority) obtained(log *slog.Logger, key string, data []byte) {
	name, _, _ := strings.Cut(key, "+")
	w := a.wanted[name]
	leaf := leafOf(data)
	if w == nil || leaf == nil {
		return // the account's key
	}
	a.witness.content()
	renewed := w.renewed(leaf)
	log.Info("certificate obtained", "name", name, "not_after", leaf.NotAfter.UTC().Format(time.RFC3339),
		"issuer", leaf.Issuer.String(), "renewal", renewed)
}

// leafOf finds the first certificate of a file; nil for none.
func leafOf(data []byte) *x509.Certificate {
	for {
		var b *pem.Block
		if b, data = pem.Decode(data); b == nil {
			return nil
		}
		if b.Type == "CERTIFICATE" {
			leaf, err := x509.ParseCertificate(b.Bytes)
			if err != nil {
				return nil
			}
			return leaf
		}
	}
}

// same reports whether a configuration needs no other authority.
func (a *authority) same(c Config) bool {
	o := a.config
	return slices.Equal(o.Domains, c.Domains) && o.Email == c.Email && o.Cache == c.Cache &&
		o.Directory == c.Directory && o.EABID == c.EABID && o.EABKey == c.EABKey && string(o.DirectoryCA) == string(c.DirectoryCA) && o.HTTP01 == c.HTTP01
}

// retire ends all requests to the authority, also those that its timers would
// make.
func (a *authority) retire() { a.witness.retired.Store(true) }
