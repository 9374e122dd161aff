package config

import (
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/andreimerlescu/concert/clientip"
)

func portalRows() []Setting {
	return []Setting{{
		Key: "portal_listen", Default: "127.0.0.1:8081", Group: GroupPortal,
		Help: "Address of the operator portal, which runs when CONCERT_PORTAL_PASS is set; empty turns it off.",
		bind: checked(func(c *Config) *string { return &c.PortalListen }, "host:port, :port, or nothing", checkPortalListen),
	}, {
		Key: "portal_allow", Default: "127.0.0.1/32,::1/128", Group: GroupPortal, Live: true,
		Help: "Addresses that reach the operator portal. The address of the connection counts, whatever headers say.",
		bind: trustList(func(c *Config) **clientip.Trust { return &c.PortalAllow }),
	}, {
		Key: "portal_hosts", Group: GroupPortal, Live: true,
		Help: "Names under which browsers reach the operator portal, beside localhost, IP addresses and the host of -portal-listen. Others are refused: a page of somebody else's can have its own name point here.",
		bind: hostNames(func(c *Config) *[]string { return &c.PortalHosts }),
	}, {
		Key: "portal_session_ttl", Default: "8h", Group: GroupPortal, Live: true,
		Help: "How long a sign-in to the operator portal lasts.",
		bind: interval(func(c *Config) *time.Duration { return &c.PortalSessionTTL }, 5*time.Minute, 365*day),
	}, {
		Key: "portal_secure_cookie", Default: "false", Group: GroupPortal, Live: true,
		Help: "Mark the cookies of the operator portal Secure. Set it if browsers reach it over HTTPS only.",
		bind: flagged(func(c *Config) *bool { return &c.PortalSecureCookie }),
	}}
}

// Portal reports whether the operator portal is to run.
func (c *Config) Portal() bool { return c.PortalListen != "" && c.PortalPass != "" }

func checkPortalListen(addr string) error {
	if addr == "" {
		return nil
	}
	return checkListen(addr)
}

// hostNames is a list of host names, kept in lower case.
func hostNames(at func(*Config) *[]string) binding {
	return bound[[]string]{at, codec[[]string]{
		Shape:  Shape{Kind: KindList, Want: "host names without ports, separated by commas"},
		parse:  func(text string) ([]string, error) { return splitList(strings.ToLower(text)), nil },
		format: func(v []string) string { return strings.Join(v, ",") },
		check: func(v []string) error {
			for _, name := range v {
				if _, err := netip.ParseAddr(name); err != nil && !isHostName(name) {
					return misfit(name + " is none")
				}
			}
			return nil
		},
	}}
}

// portalIsReachable: a portal that nobody may reach is a mistake.
func portalIsReachable(c *Config, v *validator) []conflict {
	if !c.Portal() || len(c.PortalAllow.Prefixes()) > 0 {
		return nil
	}
	return []conflict{{
		key:  "portal_allow",
		want: "at least one address while the portal is on",
		fix:  "name whom it is for, or turn it off with an empty " + v.name(row(Settings(), "portal_listen")),
	}}
}

// portalPassesDiffer: the second password gives less, so it must be another.
func portalPassesDiffer(c *Config, _ *validator) []conflict {
	switch {
	case c.PortalViewerPass == "":
		return nil
	case c.PortalPass == "":
		return []conflict{{key: "portal_viewer_pass", want: "nothing without CONCERT_PORTAL_PASS", fix: "set that as well"}}
	case c.PortalPass == c.PortalViewerPass:
		return []conflict{{key: "portal_viewer_pass", want: "another password than CONCERT_PORTAL_PASS", fix: "make one with: openssl rand -hex 16"}}
	}
	return nil
}

// advisePortal warns about passwords that travel in clear, and about a portal
// that somebody wanted and nobody gets.
func (l *Loaded) advisePortal(warn func(format string, args ...any)) {
	c := l.Config
	if l.set("portal_listen") && c.PortalListen != "" && c.PortalPass == "" {
		warn("-portal-listen %s has no effect without CONCERT_PORTAL_PASS: make one with: openssl rand -hex 16", c.PortalListen)
	}
	host, _, err := net.SplitHostPort(c.PortalListen)
	if !c.Portal() || err != nil || c.PortalSecureCookie || host == "localhost" {
		return
	}
	if ip, err := netip.ParseAddr(host); err != nil || !ip.IsLoopback() {
		warn("-portal-listen %s is beyond this machine and speaks plain HTTP: put TLS in front and set -portal-secure-cookie, or listen on 127.0.0.1 and use a tunnel", c.PortalListen)
	}
}
