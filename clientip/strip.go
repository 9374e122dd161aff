package clientip

import "strings"

// Strips reports whether a header of that name must not be passed on to the
// origin.
//
// From an untrusted peer that is every header by which a proxy tells where a
// request came from, how it arrived, or what was asked for: applications
// believe them, and a stranger may write anything. From a trusted peer they
// are kept, for the operator vouches for it.
//
// Two things go whoever sent them. Forwarded (RFC 7239), because Concert does
// not extend it and a half-told chain misleads. And twins: names that differ
// from a forwarding header only in punctuation, such as X_Forwarded_For. CGI
// and its heirs turn both into HTTP_X_FORWARDED_FOR, so a stranger's twin that
// a proxy let through could replace the true value.
//
// X-Forwarded-For, -Proto and -Host of a trusted peer stay for the caller to
// replace, by [ForwardedFor] and [ForwardedProto]. Nothing is allocated.
func Strips(name string, peerTrusted bool) bool {
	if !mayTell(name) {
		return false
	}
	var scratch [longestName]byte
	folded, twin := fold(scratch[:0], name)
	return tellsOrigin(folded) && (!peerTrusted || twin || string(folded) == "forwarded")
}

// mayTell is false for most headers that are none of those below, by their first
// two letters: spelling out the name of each header of each request is what
// forwarding would spend most of its time on.
func mayTell(name string) bool {
	if len(name) < 2 {
		return false
	}
	const toLower = 'a' - 'A'
	second := name[1] | toLower
	switch name[0] | toLower {
	case 'x': // and punctuation
		return !(second >= 'a' && second <= 'z' || name[1] >= '0' && name[1] <= '9')
	case 'a':
		return second == 'l'
	case 'c':
		return second == 'd' || second == 'f' || second == 'l'
	case 'd':
		return second == 'o'
	case 'f':
		return second == 'a' || second == 'l' || second == 'o' || second == 'r'
	case 'p', 't':
		return second == 'r'
	case 'r':
		return second == 'e'
	case 'w':
		return second == 'l'
	}
	return false
}

// longestName is how many bytes of a header name are looked at, in excess of
// the longest in the tables; a longer one can still match by its prefix.
const longestName = 48

// fold appends name to dst in the form CGI reads it by: one case, one kind of
// punctuation. It reports whether name was written with any other punctuation
// than hyphens.
func fold(dst []byte, name string) (folded []byte, twin bool) {
	for i := range len(name) {
		c := name[i]
		switch {
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-':
		default:
			twin, c = true, '-'
		}
		if len(dst) < longestName {
			dst = append(dst, c)
		}
	}
	return dst, twin
}

// tellsOrigin reports whether a folded header name is one by which proxies
// tell the origin about a request.
func tellsOrigin(folded []byte) bool {
	switch {
	case hasPrefix(folded, "x-forwarded"), hasPrefix(folded, "forwarded"), hasPrefix(folded, "x-original-"):
		return true
	}
	return tellsClient(folded) || tellsTarget(folded)
}

// tellsClient lists headers that name the client's address or country, by the products
// and services that set them.
func tellsClient(folded []byte) bool {
	switch string(folded) {
	case "x-real-ip", "x-real-port", "x-client-ip", "client-ip", "x-client-port",
		"x-cluster-client-ip", "cluster-client-ip",
		"true-client-ip", "x-true-client-ip",
		"x-remote-ip", "x-remote-addr", "remote-addr", "x-originating-ip",
		"x-proxyuser-ip", "proxy-client-ip", "wl-proxy-client-ip",
		"cf-connecting-ip", "cf-connecting-ipv6", "cf-pseudo-ipv4", "cf-ipcountry",
		"fastly-client-ip", "fly-client-ip", "do-connecting-ip", "ali-cdn-real-ip", "cdn-src-ip",
		"x-appengine-user-ip", "x-appengine-remote-addr", "x-azure-clientip", "x-azure-socketip",
		"cloudfront-viewer-address", "x-envoy-external-address",
		"x-nf-client-connection-ip", "x-vercel-forwarded-for", "x-vercel-ip-country":
		return true
	}
	return false
}

// tellsTarget lists headers that name the scheme, host or path a request was
// made with; frameworks route and build links by them.
func tellsTarget(folded []byte) bool {
	switch string(folded) {
	case "x-rewrite-url", "x-envoy-original-path", "x-request-uri", "x-script-name",
		"x-host", "x-host-override", "x-http-host-override",
		"x-scheme", "x-url-scheme", "x-proto", "x-arr-ssl", "front-end-https",
		"cf-visitor", "cloudfront-forwarded-proto", "fastly-ssl", "wl-proxy-ssl":
		return true
	}
	return false
}

func hasPrefix(b []byte, prefix string) bool {
	return len(b) >= len(prefix) && strings.HasPrefix(string(b[:len(prefix)]), prefix)
}
