package config

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/listener"
)

// advise warns about values that are accepted and yet unlikely to be meant.
func (l *Loaded) advise() {
	c := l.Config
	warn := func(format string, args ...any) {
		l.Warnings = append(l.Warnings, fmt.Sprintf(format, args...))
	}
	l.adviseSecrets(warn)
	l.adviseLimits(warn)
	l.advisePaths(warn)
	l.adviseAddresses(warn)
	if p, ok := everybody(c.TrustedProxies); ok {
		warn("-trusted-proxies %s: each visitor can say whose request it is, and nobody is banned; name your proxies alone", p)
	}
	if p, ok := everybody(c.AbuseAllow); ok {
		warn("-abuse-allow %s: nobody is banned; name those alone who must not be", p)
	}
	l.adviseRooms(warn)
	l.adviseConnections(warn)
	l.adviseTLS(warn)
	l.advisePortal(warn)
	if c.CookiePath != "/" {
		warn("-cookie-path %q: browsers send the ticket either to pages or to /queue/status but not to both, so nobody who waits gets in", c.CookiePath)
	}
}

// adviseSecrets warns about secrets that are missing or short.
func (l *Loaded) adviseSecrets(warn func(format string, args ...any)) {
	if !l.set("admit_secret") {
		warn("CONCERT_ADMIT_SECRET is unset: tickets and passes are signed with a random key, which goes along in a hand-over and ends with a restart")
	}
	if n := len(l.Config.AdminToken); 0 < n && n < 16 {
		warn("CONCERT_ADMIN_TOKEN has %d bytes and can be guessed; use 16 or more", n)
	}
}

// adviseLimits warns about limits that do not fit each other.
func (l *Loaded) adviseLimits(warn func(format string, args ...any)) {
	c := l.Config
	// The defaults themselves stand in this relation, so they pass unremarked.
	if l.set("cap") || l.set("max_queue") {
		if 0 < c.MaxQueue && c.MaxQueue < c.Cap {
			warn("-max-queue %d is below -cap %d: a short burst is answered 503 although the origin would serve it within one more turn", c.MaxQueue, c.Cap)
		}
	}
	if c.Inflow == 0 && c.InflowBurst > 0 {
		warn("-inflow-burst %d has no effect without -inflow", c.InflowBurst)
	}
}

// advisePaths warns about lists of paths in which one path was hardly meant.
func (l *Loaded) advisePaths(warn func(format string, args ...any)) {
	c := l.Config
	for i, path := range slices.Concat(c.Assets, c.AssetPublic) {
		if len(path) > 1 && strings.HasSuffix(path, "/") {
			flag := "-assets"
			if i >= len(c.Assets) {
				flag = "-asset-public"
			}
			warn("%s %q is that one path alone: write %s* for all below it", flag, path, path)
		}
	}
}

// adviseAddresses warns about where Concert listens, and whom it asks.
func (l *Loaded) adviseAddresses(warn func(format string, args ...any)) {
	c := l.Config
	if c.isOwnOrigin() {
		warn("-upstream %s is Concert itself, by -listen %s: requests would go round in circles", c.Upstream, c.Listen)
	}
	if _, port, _ := net.SplitHostPort(c.Listen); port == "80" && c.SecureCookie && !c.TLS() {
		warn("-secure-cookie with plain HTTP on port 80: a browser that comes by http:// drops its ticket and never gets in; put TLS in front, or set -secure-cookie=false")
	}
}

// adviseConnections warns about limits of connections that do not fit, and
// about a PROXY protocol that nobody is known to speak.
func (l *Loaded) adviseConnections(warn func(format string, args ...any)) {
	c := l.Config
	room := listener.Room()
	switch {
	case room > 0 && c.MaxConns > room:
		warn("-max-conns %d is more than the limit of open files leaves room for, about %d: raise that limit (LimitNOFILE in a systemd unit) or lower -max-conns", c.MaxConns, room)
	case 0 < c.MaxConns && c.MaxConns < c.Cap:
		warn("-max-conns %d is below -cap %d: not so many visitors can come, and those who wait need connections, too", c.MaxConns, c.Cap)
	}
	switch {
	case !c.ProxyProtocol:
	case len(c.TrustedProxies.Prefixes()) == 0:
		warn("-proxy-protocol has no effect without -trusted-proxies")
	case !l.set("trusted_proxies"):
		warn("-proxy-protocol: by the default of -trusted-proxies only connections from this machine begin with a PROXY header; name your balancer there")
	}
}

// everybody returns the network in t that holds every address of its family.
func everybody(t *clientip.Trust) (netip.Prefix, bool) {
	for _, p := range t.Prefixes() {
		if p.Bits() == 0 {
			return p, true
		}
	}
	return netip.Prefix{}, false
}

// set reports whether somebody chose the value.
func (l *Loaded) set(key string) bool { return l.Origins[key] != FromDefault }

// isOwnOrigin reports whether -upstream leads back to -listen, as far as that
// can be told from their wording.
func (c *Config) isOwnOrigin() bool {
	host, port, _ := net.SplitHostPort(c.Listen)
	if port != cmp.Or(c.Upstream.Port(), map[string]string{"http": "80", "h2c": "80", "https": "443"}[c.Upstream.Scheme]) {
		return false
	}
	origin := strings.Replace(c.Upstream.Hostname(), "localhost", "127.0.0.1", 1)
	ip := net.ParseIP(origin)
	return host == c.Upstream.Hostname() || host == origin ||
		ip.IsLoopback() && (host == "" || net.ParseIP(host).IsUnspecified())
}
