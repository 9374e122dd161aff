package config

import (
	"encoding/pem"
	"net/mail"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/andreimerlescu/concert/certs"
)

func tlsRows() []Setting {
	return append(authorityRows(), []Setting{{
		Key: "tls_cert", Group: GroupTLS, Live: true,
		Help: "Files with certificates of your own, each a PEM chain with the server's first; -listen then speaks TLS. Changed files are read again by themselves, and on SIGHUP. The first is for whoever asks for a name that none is for.",
		bind: fileList(func(c *Config) *[]string { return &c.TLSCert }),
	}, {
		Key: "tls_key", Group: GroupTLS, Live: true,
		Help: "Files with the private keys of -tls-cert, in the same order.",
		bind: fileList(func(c *Config) *[]string { return &c.TLSKey }),
	}, {
		Key: "http3", Default: "false", Group: GroupTLS,
		Help: "Serve HTTP/3 as well, over UDP on the port of -listen, and tell browsers so. Open the port for UDP in the firewall.",
		bind: flagged(func(c *Config) *bool { return &c.HTTP3 }),
	}, {
		Key: "tls_http_listen", Group: GroupTLS,
		Help: "Address for plain HTTP beside TLS, usually :80: it sends visitors on to https, and answers HTTP-01 challenges of the authority. Without certificates it serves the site.",
		bind: checked(func(c *Config) *string { return &c.TLSHTTPListen }, "host:port or :port, or nothing", optional(checkListen)),
	}, {
		Key: "hsts", Default: "0", Group: GroupTLS, Live: true,
		Help: "How long browsers should come by https only (Strict-Transport-Security), said on every TLS response; 0 says nothing. It cannot be taken back before it ends: begin with a short time.",
		bind: interval(func(c *Config) *time.Duration { return &c.HSTS }, 0, 2*365*day),
	}, {
		Key: "hsts_subdomains", Default: "false", Group: GroupTLS, Live: true,
		Help: "Let -hsts hold for all subdomains as well, also those that Concert does not serve.",
		bind: flagged(func(c *Config) *bool { return &c.HSTSSubdomains }),
	}}...)
}

func authorityRows() []Setting {
	return []Setting{{
		Key: "tls_domains", Group: GroupTLS, Live: true,
		Help: "Host names to get Let's Encrypt certificates for, whose terms you accept with it; -listen then speaks TLS.",
		bind: domainList(func(c *Config) *[]string { return &c.TLSDomains }),
	}, {
		Key: "tls_email", Group: GroupTLS, Live: true,
		Help: "Where the authority may write to about the certificates.",
		bind: checked(func(c *Config) *string { return &c.TLSEmail }, "an e-mail address, or nothing", optional(checkMail)),
	}, {
		Key: "tls_cache", Default: "/var/lib/concert/acme", Group: GroupTLS, Live: true,
		Help: "Directory for the account and the certificates of -tls-domains, with their keys.",
		bind: checked(func(c *Config) *string { return &c.TLSCache }, "a directory that Concert can write to", checkPath),
	}, {
		Key: "tls_staging", Default: "false", Group: GroupTLS, Live: true,
		Help: "Use Let's Encrypt's staging directory, to try things out: it allows many more failures, and no browser trusts it.",
		bind: flagged(func(c *Config) *bool { return &c.TLSStaging }),
	}, {
		Key: "tls_directory", Group: GroupTLS, Live: true,
		Help: "Directory of another authority than Let's Encrypt that speaks ACME.",
		bind: checked(func(c *Config) *string { return &c.TLSDirectory }, "an https URL, or nothing", optional(checkDirectoryURL)),
	}, {
		Key: "tls_directory_ca", Group: GroupTLS, Live: true,
		Help: "PEM file of the roots by which -tls-directory itself is known, where the system's do not do: an authority in your own network.",
		bind: roots(func(c *Config) *File { return &c.TLSDirectoryCA }),
	}, {
		Key: "tls_eab_id", Group: GroupTLS, Live: true,
		Help: "Number of your account at an authority that wants to know its customers (external account binding); its key goes into CONCERT_TLS_EAB_KEY.",
		bind: checked(func(c *Config) *string { return &c.TLSEABID }, "printable ASCII without spaces, or nothing", checkPrintable),
	}}
}

// tlsSecretRows belong to the rows above.
func tlsSecretRows() []Setting {
	return []Setting{{
		Key: "tls_eab_key", Group: GroupSecrets, Secret: true,
		Help: "Key that the authority of -tls-directory gave out with -tls-eab-id.",
		bind: bound[Secret]{func(c *Config) *Secret { return &c.TLSEABKey }, codec[Secret]{
			Shape:  Shape{Kind: KindText, Want: "base64url as the authority shows it, or nothing"},
			parse:  func(text string) (Secret, error) { return Secret(text), nil },
			format: func(s Secret) string { return string(s) },
			check: func(s Secret) error {
				if _, err := certs.EABKey(string(s)); err != nil {
					return misfit("")
				}
				return nil
			},
		}},
	}}
}

// checkPrintable accepts what a token is made of.
func checkPrintable(text string) error {
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return misfit("")
	}
	return nil
}

// optional accepts nothing as well.
func optional(check func(string) error) func(string) error {
	return func(text string) error {
		if text == "" {
			return nil
		}
		return check(text)
	}
}

// domainList is a list of host names, in the form they are asked for.
func domainList(at func(*Config) *[]string) binding {
	return bound[[]string]{at, codec[[]string]{
		Shape: Shape{Kind: KindList, Want: "host names, separated by commas"},
		parse: func(text string) ([]string, error) {
			names, err := certs.Names(splitList(text))
			return names, oneLine(err)
		},
		format: func(v []string) string { return strings.Join(v, ",") },
		check: func(v []string) error {
			_, err := certs.Names(v)
			return oneLine(err)
		},
	}}
}

func checkMail(text string) error {
	if a, err := mail.ParseAddress(text); err != nil || a.Address != text {
		return misfit("")
	}
	return nil
}

// checkDirectoryURL accepts https, and http on this machine.
func checkDirectoryURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil {
		return misfit("")
	}
	ip, _ := netip.ParseAddr(u.Hostname())
	if u.Scheme != "https" && (u.Scheme != "http" || !ip.IsLoopback()) {
		return misfit("")
	}
	return nil
}

// roots is a PEM file of certificates.
func roots(at func(*Config) *File) binding {
	b := file(at).(bound[File])
	b.Want = "a PEM file of certificates, or nothing"
	b.codec.check = func(f File) error {
		if f.Content == nil {
			return nil // there is none, or it is not read yet
		}
		if block, _ := pem.Decode(f.Content); block == nil || block.Type != "CERTIFICATE" {
			return misfit("it does not begin with a certificate")
		}
		return nil
	}
	return b
}

// TLS reports whether the configuration has any certificate, or is to get one.
func (c *Config) TLS() bool { return len(c.TLSDomains)+len(c.TLSCert) > 0 }

// Certificates is the part of the configuration that package certs goes by.
func (c *Config) Certificates() certs.Config {
	out := certs.Config{
		Domains: c.TLSDomains, Email: c.TLSEmail, Cache: c.TLSCache,
		Directory: c.TLSDirectory, DirectoryCA: c.TLSDirectoryCA.Content, HTTP01: c.TLSHTTPListen != "",
		EABID: c.TLSEABID, EABKey: string(c.TLSEABKey),
	}
	for i := range min(len(c.TLSCert), len(c.TLSKey)) {
		out.Files = append(out.Files, certs.Pair{Cert: c.TLSCert[i], Key: c.TLSKey[i]})
	}
	switch {
	case c.TLSDirectory != "":
	case c.TLSStaging:
		out.Directory = certs.Staging
	default:
		out.Directory = certs.Production
	}
	return out
}
