package classify

import (
	"net/http"
	"net/netip"
	"strings"
)

// goodHost reports whether the request names one host that an origin can be
// asked for. On HTTP/1, net/http has already refused repeated Host lines and
// HTTP/1.1 without any; it lets an empty one pass, and HTTP/1.0 without.
func goodHost(r *http.Request) bool {
	if lines, sent := r.Header["Host"]; sent && (len(lines) != 1 || !strings.EqualFold(lines[0], r.Host)) {
		return false
	}
	return validHost(r.Host)
}

// validHost reports whether s is a host with an optional port, as a Host field
// holds it (RFC 9110, section 7.2; RFC 3986, section 3.2.2). The host of an
// http URL is never empty.
func validHost(s string) bool {
	host, port := splitPort(s)
	for i := range len(port) {
		if !isDigit(port[i]) {
			return false
		}
	}
	if host != "" && host[0] == '[' {
		// IPvFuture literals are refused too: nothing speaks them.
		a, err := netip.ParseAddr(strings.TrimSuffix(host[1:], "]"))
		return err == nil && host[len(host)-1] == ']' && a.Is6() && a.Zone() == ""
	}
	for i := range len(host) {
		if !regName[host[i]] {
			return false
		}
	}
	return host != ""
}

// splitPort cuts the port off, if there is one. A colon inside brackets
// belongs to the address.
func splitPort(s string) (host, port string) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 || strings.IndexByte(s[i:], ']') >= 0 {
		return s, ""
	}
	return s[:i], s[i+1:]
}

// regName holds the bytes of a registered name: unreserved characters,
// sub-delimiters and escapes (RFC 3986, sections 2.1 to 2.3).
var regName = func() (set [256]bool) {
	for _, c := range []byte("-._~!$&'()*+,;=%") {
		set[c] = true
	}
	for c := range set {
		b := byte(c)
		if isDigit(b) || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' {
			set[c] = true
		}
	}
	return set
}()

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
