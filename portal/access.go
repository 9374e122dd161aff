package portal

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/config"
)

// security are the headers of every answer.
var security = map[string]string{
	"Content-Security-Policy": "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
	"X-Frame-Options":         "DENY",
	"X-Content-Type-Options":  "nosniff",
	"Referrer-Policy":         "no-referrer",
	"Cache-Control":           "no-store",

	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
}

// peerOf is the address of a connection; headers are not asked.
func peerOf(r *http.Request) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{} // in no list
	}
	return peer.Addr().Unmap().WithZone("")
}

// isAllowed reports whether an address may reach the portal.
func isAllowed(allow *clientip.Trust, a netip.Addr) bool { return a.IsValid() && allow.Contains(a) }

// isHost reports whether a Host header names the portal. An IP address always
// does: a page that somebody else's name points here for comes with that name.
func isHost(c *config.Config, listen, host string) bool {
	name := hostName(host)
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	return name == "localhost" || strings.HasSuffix(name, ".localhost") ||
		name != "" && name == hostName(listen) || slices.Contains(c.PortalHosts, name)
}

// hostName is a Host header without port, brackets and the root's dot, in lower
// case.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// sendOn has a client send its request again, over a connection to the process
// that takes over; false when the request's target is no path here.
func sendOn(w http.ResponseWriter, r *http.Request) bool {
	if uri := r.RequestURI; !strings.HasPrefix(uri, "/") || strings.HasPrefix(uri, "//") || strings.HasPrefix(uri, `/\`) {
		return false
	}
	w.Header().Set("Connection", "close")
	w.Header().Set("Location", r.RequestURI)
	w.WriteHeader(http.StatusTemporaryRedirect)
	return true
}
