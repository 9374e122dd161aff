package upstream

import (
	"net/http"
	"net/textproto"
	"slices"
	"strings"
)

// dropHops removes what concerns the connection to the origin only.
func dropHops(h http.Header) {
	for _, line := range h["Connection"] {
		for token := range strings.SplitSeq(line, ",") {
			if token = textproto.TrimString(token); token != "" {
				delete(h, textproto.CanonicalMIMEHeaderKey(token))
			}
		}
	}
	for name := range h {
		if hopByHop(name) {
			delete(h, name)
		}
	}
}

// dropOwn removes what the origin says to Concert alone.
func (p *Proxy) dropOwn(h http.Header) {
	for _, name := range p.own {
		delete(h, name)
	}
}

// addAll adds src's lines to dst's.
func addAll(dst, src http.Header) {
	for name, values := range src {
		if have := dst[name]; len(have) > 0 {
			values = append(slices.Clip(have), values...)
		}
		dst[name] = values
	}
}

// announceTrailers writes the Trailer header for the trailers the origin
// announced, and returns their names.
func announceTrailers(h, trailer http.Header) []string {
	if len(trailer) == 0 {
		return nil
	}
	names := make([]string, 0, len(trailer))
	for name := range trailer {
		names = append(names, name)
	}
	slices.Sort(names)
	h["Trailer"] = []string{strings.Join(names, ", ")}
	return names
}

// setTrailers has the server send trailers after the body.
func setTrailers(h, trailer http.Header, announced []string) {
	for name, values := range trailer {
		if slices.Contains(announced, name) {
			h[name] = values
		} else {
			h[http.TrailerPrefix+name] = values
		}
	}
}

// exact keeps net/http's server from improving on the origin: it would guess a
// missing type, and cut a 304 short of the fields the 200 would have had, which
// RFC 9110 (sections 8.6 and 15.4.5) allows and caches use. It does not
// recognize those under an unusual spelling.
func (e *exchange) exact(h http.Header, status int) {
	if _, sent := h["Content-Type"]; !sent {
		h["Content-Type"] = nil
	}
	if status != http.StatusNotModified || e.r.ProtoMajor != 1 {
		return
	}
	for _, name := range [...]string{"Content-Type", "Content-Length"} {
		if values := h[name]; values != nil {
			delete(h, name)
			h[strings.ToLower(name)] = values
		}
	}
}
