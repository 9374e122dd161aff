package clientip

import (
	"net/netip"
	"strings"
)

// maxEntry is the longest entry worth reading, in bytes. The longest honest
// one, a bracketed IPv4-mapped address with an interface name and a port, has
// about 75; a sender could otherwise make the parser copy a zone of any length.
const maxEntry = 96

// parseEntry reads one entry of X-Forwarded-For, or a remote address: an IPv4
// or IPv6 address, with or without port, brackets and zone. The result has no
// zone and is never IPv4-mapped.
func parseEntry(s string) (netip.Addr, bool) {
	if s == "" || len(s) > maxEntry {
		return netip.Addr{}, false
	}
	host, bracketed := s, s[0] == '['
	if bracketed {
		var ok bool
		if host, ok = cutBrackets(s); !ok {
			return netip.Addr{}, false
		}
	} else if i := strings.IndexByte(s, ':'); i >= 0 && strings.LastIndexByte(s, ':') == i {
		// One colon only: no IPv6 address has fewer than two.
		if !isPort(s[i+1:]) {
			return netip.Addr{}, false
		}
		host = s[:i]
	}
	return parseHost(host, bracketed)
}

// cutBrackets returns what stands in the brackets of `[…]` or `[…]:port`.
func cutBrackets(s string) (string, bool) {
	end := strings.IndexByte(s, ']')
	if end < 0 {
		return "", false
	}
	after := s[end+1:]
	if after != "" && (after[0] != ':' || !isPort(after[1:])) {
		return "", false
	}
	return s[1:end], true
}

// parseHost reads an address and drops its zone before the parser sees it:
// netip interns zones, and this text is chosen by whoever sent it.
func parseHost(s string, mustBe6 bool) (netip.Addr, bool) {
	zone := strings.IndexByte(s, '%')
	if zone >= 0 {
		if zone == len(s)-1 {
			return netip.Addr{}, false
		}
		s, mustBe6 = s[:zone], true
	}
	a, err := netip.ParseAddr(s)
	if err != nil || mustBe6 && a.Is4() {
		return netip.Addr{}, false
	}
	return a.Unmap(), true
}

// isPort reports whether s is a decimal number from 0 to 65535.
func isPort(s string) bool {
	if s == "" || len(s) > 5 {
		return false
	}
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n <= 65535
}

// trimBlank removes the white space RFC 9110 allows around a list entry.
func trimBlank(s string) string {
	for s != "" && (s[0] == ' ' || s[0] == '\t') {
		s = s[1:]
	}
	for s != "" && (s[len(s)-1] == ' ' || s[len(s)-1] == '\t') {
		s = s[:len(s)-1]
	}
	return s
}
