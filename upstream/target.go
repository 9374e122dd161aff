package upstream

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpguts"
)

var (
	errTarget = errors.New("request target is malformed")
	errHost   = errors.New("request names no usable host")
)

// originTarget returns the origin-form of r's request target (RFC 9112, 3.2),
// byte for byte as it was sent. Of an absolute-form target the scheme and
// authority are cut off: they say what is wanted of this server, not of the
// origin.
func originTarget(r *http.Request) (string, error) {
	target := r.RequestURI
	if target == "*" && r.Method == http.MethodOptions {
		return target, nil
	}
	// A blank would end the target early for the origin. HTTP/1 cannot carry
	// one; in HTTP/2 it is only a byte of a field.
	for i := range len(target) {
		if target[i] <= ' ' || target[i] == 0x7f {
			return "", errTarget
		}
	}
	if strings.HasPrefix(target, "/") {
		return target, nil
	}
	_, rest, found := strings.Cut(target, "://")
	if !found || r.URL.Host == "" {
		return "", errTarget
	}
	if i := strings.IndexAny(rest, "/?#"); i < 0 {
		return "/", nil
	} else if rest[i] == '/' {
		return rest[i:], nil
	} else {
		return "/" + rest[i:], nil
	}
}

// setTarget makes u yield exactly target as its RequestURI. URL.Opaque does so
// for everything but a leading "//", before which RequestURI writes the scheme;
// there the path fields are used, which refuse bytes that do not belong in a
// path, so that those are percent-encoded.
func setTarget(u *url.URL, target string) {
	if !strings.HasPrefix(target, "//") {
		u.Opaque = target
		return
	}
	path, query, found := strings.Cut(target, "?")
	u.RawPath = encodeOdd(path)
	u.Path, _ = url.PathUnescape(u.RawPath) // net/http refused bad escapes before
	u.RawQuery, u.ForceQuery = query, found && query == ""
}

// encodeOdd percent-encodes the bytes of path that RFC 3986 does not allow in
// one, and leaves its escapes alone.
func encodeOdd(path string) string {
	const allowed = "!$&'()*+,;=:@[]%/-._~"
	const hex = "0123456789ABCDEF"
	var b []byte
	for i := range len(path) {
		c := path[i]
		ok := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte(allowed, c) >= 0
		switch {
		case !ok && b == nil:
			b = append(make([]byte, 0, len(path)+16), path[:i]...)
			fallthrough
		case !ok:
			b = append(b, '%', hex[c>>4], hex[c&15])
		case b != nil:
			b = append(b, c)
		}
	}
	if b == nil {
		return path
	}
	return string(b)
}

// hostField returns the Host field for an origin of that authority: names in
// their ASCII form (RFC 5890), addresses without a zone, which concerns this
// host only (RFC 6874).
func hostField(authority string) (string, error) {
	host, err := httpguts.PunycodeHostPort(authority)
	if err != nil {
		return "", fmt.Errorf("upstream: origin %q: %w", authority, err)
	}
	if i := strings.IndexByte(host, '%'); i >= 0 && strings.HasPrefix(host, "[") {
		if j := strings.LastIndexByte(host, ']'); j > i {
			host = host[:i] + host[j:]
		}
	}
	return host, nil
}
