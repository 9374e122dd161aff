package clientip

import (
	"net/http"
	"strings"
)

// The headers Concert speaks itself, in the form net/http keeps them.
const (
	headerFor   = "X-Forwarded-For"
	headerProto = "X-Forwarded-Proto"
)

// ForwardedFor returns the X-Forwarded-For value for the origin: the lines of
// a trusted peer joined to one, and the peer; of anyone else the peer alone.
// Blank entries at the ends of a line are left out, so that the peer is always
// one entry from the right. It is empty when the peer has no IP address.
func ForwardedFor(h http.Header, c Client) string {
	if !c.Peer.IsValid() {
		return ""
	}
	if !c.PeerTrusted {
		return c.Peer.String()
	}
	const longestPeer = 39 // eight groups of four digits
	lines := h[headerFor]
	size := longestPeer
	for _, line := range lines {
		size += len(line) + len(", ")
	}
	chain := make([]byte, 0, size)
	for _, line := range lines {
		if line = strings.Trim(line, ", \t"); line != "" {
			chain = append(append(chain, line...), ", "...)
		}
	}
	return string(c.Peer.AppendTo(chain))
}

// ForwardedProto returns the X-Forwarded-Proto value for the origin: the first
// line a trusted peer sent, as it sent it, or else scheme. Nothing is ever
// added to a list: applications compare the value as a whole or its first
// token, and a visitor on HTTPS must stay one.
func ForwardedProto(h http.Header, c Client, scheme string) string {
	if c.PeerTrusted {
		for _, line := range h[headerProto] {
			if line = trimBlank(line); line != "" {
				return line
			}
		}
	}
	return scheme
}
