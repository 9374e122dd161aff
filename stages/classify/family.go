package classify

import (
	"strings"

	"github.com/andreimerlescu/concert/pipeline"
)

// family returns the protocol family of the visit's client.
func (c *Config) family(v *pipeline.Visit) pipeline.Family {
	if c.ProtoHeader != "" && v.Client.PeerTrusted {
		// The last line is the nearest proxy's own: one that adds instead of
		// replacing leaves the client's in front of it.
		if lines := v.R.Header[c.ProtoHeader]; len(lines) > 0 {
			if f, known := parseFamily(strings.TrimSpace(lines[len(lines)-1])); known {
				return f
			}
		}
	}
	if v.R.ProtoMajor >= 2 {
		return pipeline.HTTP2
	}
	return pipeline.HTTP1
}

// parseFamily reads a protocol as terminators write it: a version such as
// HTTP/2.0, or an ALPN name such as h2 or http/1.1.
func parseFamily(s string) (f pipeline.Family, known bool) {
	switch {
	case hasPrefixFold(s, "http/1"):
		return pipeline.HTTP1, true
	case hasPrefixFold(s, "http/2"), hasPrefixFold(s, "http/3"),
		hasPrefixFold(s, "h2"), hasPrefixFold(s, "h3"):
		return pipeline.HTTP2, true
	}
	return 0, false
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
