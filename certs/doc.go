// Package certs is the certificates of a server, and its TLS: from files that
// somebody else renews, from a certificate authority that speaks ACME
// (RFC 8555), or both.
//
// # Usage
//
//	m := certs.New(certs.Options{Log: log})
//	plan, err := m.Plan(certs.Config{Domains: []string{"example.com"}, Cache: "/var/lib/x/acme"})
//	m.Use(plan)                             // again whenever the configuration changes
//	go m.Run(ctx)                           // obtains, renews, reads changed files again
//	server.Serve(m.Listener(ln))            // TLS while the plan has any certificate
//	plain.Serve(m.Plain(handler, ":443"))   // beside it, optional: challenges and redirects
//
// # Which certificate
//
// A name that a certificate from files covers gets that one; of several the
// first that the client can use. Other names get theirs from the authority, if
// they are among the domains. Whoever asks for another name, or none, gets the
// first certificate from files; without any, the handshake ends with the alert
// unrecognized_name. Nothing is asked of the authority for names that are not
// among the domains.
//
// # The authority
//
// Package autocert does the work: challenges TLS-ALPN-01 (RFC 8737) on the TLS
// listener and HTTP-01 on the plain one, renewal after two thirds of a
// certificate's life, with jitter. Run asks for certificates before anybody
// comes. After a failure the next attempt is 2, 4, 8 … minutes later, an hour
// at most, whatever strangers ask for meanwhile: authorities count failures.
// Keys and certificates are kept in the cache directory, readable for the owner
// only. What cannot be written there is kept in memory and written later, so
// that a full disk does not cost the renewal.
//
// # Session tickets
//
// The keys of tickets are random, change twice a day, and are good for another
// day. [Manager.Tickets] hands them to a successor. A ticket is good for the
// name that it was made for only (RFC 6066, section 3).
//
// # Concurrency
//
// The methods of a Manager are safe for concurrent use. A Plan is not changed
// by anybody.
//
// # Limits
//
// No OCSP staples: authorities are giving them up. No client certificates. No
// wildcards from the authority: they take a challenge in the DNS.
package certs
