package config

import (
	"net"
	"strconv"
	"time"

	"github.com/andreimerlescu/concert/certs"
)

// keysForCertificates: each certificate has its key.
func keysForCertificates(c *Config, v *validator) []conflict {
	if len(c.TLSCert) == len(c.TLSKey) {
		return nil
	}
	return []conflict{{
		key:  "tls_key",
		want: "as many files as " + v.name(row(Settings(), "tls_cert")) + ", " + strconv.Itoa(len(c.TLSCert)),
		fix:  "name the key of each certificate, in the same order",
	}}
}

// oneDirectory: there is one authority.
func oneDirectory(c *Config, v *validator) []conflict {
	if !c.TLSStaging || c.TLSDirectory == "" {
		return nil
	}
	return []conflict{{
		key:  "tls_directory",
		want: "nothing while " + v.name(row(Settings(), "tls_staging")) + " is true",
		fix:  "leave out one of the two",
	}}
}

// twoAddresses: plain HTTP beside TLS needs a port of its own.
func twoAddresses(c *Config, v *validator) []conflict {
	if c.TLSHTTPListen == "" {
		return nil
	}
	_, port, _ := net.SplitHostPort(c.TLSHTTPListen)
	if _, main, _ := net.SplitHostPort(c.Listen); port != main || port == "0" {
		return nil
	}
	return []conflict{{
		key:  "tls_http_listen",
		want: "another port than " + v.name(row(Settings(), "listen")) + ", " + c.Listen,
		fix:  "usually the one is :80 and the other :443",
	}}
}

// http3NeedsTLS: QUIC has no other way.
func http3NeedsTLS(c *Config, v *validator) []conflict {
	if !c.HTTP3 || c.TLS() {
		return nil
	}
	return []conflict{{
		key:  "http3",
		want: "false without certificates",
		fix:  "set " + v.name(row(Settings(), "tls_domains")) + ", or " + v.name(row(Settings(), "tls_cert")) + " and its key",
	}}
}

// bindingIsWhole: an account's number and its key belong together.
func bindingIsWhole(c *Config, _ *validator) []conflict {
	if (c.TLSEABID == "") == (c.TLSEABKey == "") {
		return nil
	}
	return []conflict{{
		key:  "tls_eab_id",
		want: "a value if and only if CONCERT_TLS_EAB_KEY has one",
		fix:  "set both as the authority gave them out, or neither",
	}}
}

// certificatesAreGood looks into the files themselves.
func certificatesAreGood(c *Config, _ *validator) (found []conflict) {
	for _, p := range c.Certificates().Files {
		if _, err := p.Load(); err != nil {
			found = append(found, conflict{key: "tls_cert", want: "PEM files that belong to those of -tls-key", fix: err.Error()})
		}
	}
	return found
}

// cacheIsGood looks at the directory itself.
func cacheIsGood(c *Config, _ *validator) []conflict {
	if len(c.TLSDomains) == 0 {
		return nil
	}
	if err := certs.CheckCache(c.TLSCache); err != nil {
		return []conflict{{key: "tls_cache", fix: err.Error()}}
	}
	return nil
}

// adviseTLS warns about certificates that are accepted and yet unlikely to do.
func (l *Loaded) adviseTLS(warn func(format string, args ...any)) {
	c := l.Config
	_, port, _ := net.SplitHostPort(c.Listen)
	switch {
	case !c.TLS() && c.TLSHTTPListen != "":
		warn("-tls-http-listen %s serves the site itself as long as there is neither -tls-domains nor -tls-cert", c.TLSHTTPListen)
	case !c.TLS() && c.HSTS > 0:
		warn("-hsts has no effect without -tls-domains or -tls-cert: what ends TLS in front of Concert has to say it")
	case len(c.TLSDomains) > 0 && port != "443":
		warn("-listen %s: the authority of -tls-domains asks for its proof on port 443; use -listen :443, or have 443 forwarded", c.Listen)
	}
	if c.TLS() && c.TLSHTTPListen == "" {
		warn("nobody answers http://: with -tls-http-listen :80 visitors are sent on to https")
	}
}

// adviseFiles warns about certificates that can be used and need a hand.
func (l *Loaded) adviseFiles() {
	for _, p := range l.Config.Certificates().Files {
		if c, err := p.Load(); err == nil { // an error is a problem, reported as such
			l.Warnings = append(l.Warnings, p.Warnings(c, time.Now())...)
		}
	}
}
