package pipeline

import (
	"net/http"
	"net/textproto"
	"strings"
)

// Destination is what becomes of a response, as far as the request tells.
type Destination uint8

const (
	Opened Destination = iota // shown as a page; also when the request does not tell
	Read                      // read by a script
	Built                     // a part of a page: an image, a style, a socket's handshake
)

// DestinationOf reads Sec-Fetch-Dest (Fetch Metadata Request Headers, section
// 2.1). Values that are not known are parts of a page.
func DestinationOf(r *http.Request) Destination {
	values := r.Header["Sec-Fetch-Dest"]
	if len(values) == 0 {
		return Opened
	}
	switch values[0] {
	case "", "document", "iframe", "frame":
		return Opened
	case "empty":
		// A service worker that passes a navigation on does so with an empty
		// destination, and what comes back is shown. No script can make up a
		// request of that mode.
		if mode := r.Header["Sec-Fetch-Mode"]; len(mode) > 0 && mode[0] == "navigate" {
			return Opened
		}
		return Read
	}
	return Built
}

// IsWebSocket reports whether protocol, as in an Upgrade field, is WebSocket
// (RFC 6455, section 4.1). Other protocols are offers that a client does
// without: programs offer h2c with each request that they send without TLS.
func IsWebSocket(protocol string) bool {
	return strings.EqualFold(textproto.TrimString(protocol), "websocket")
}

// WantsHTML is the one decision whether a request is answered with a page of
// Concert's or with JSON. A page goes to who will show it and asks for it by
// name: a response that a script reads is none to show, whatever the Accept
// header says, and a wildcard there is no request for a page, for API clients
// send it (RFC 9110, section 12.5.1, read from the point of view of who can run
// a page).
func WantsHTML(r *http.Request) bool {
	return DestinationOf(r) == Opened && acceptsHTML(r)
}

// acceptsHTML reports whether the Accept header names text/html with a weight
// above zero.
func acceptsHTML(r *http.Request) bool {
	for _, line := range r.Header["Accept"] {
		for line != "" {
			var item string
			item, line, _ = strings.Cut(line, ",")
			mediaType, params, _ := strings.Cut(item, ";")
			if strings.EqualFold(strings.TrimSpace(mediaType), "text/html") && !zeroWeight(params) {
				return true
			}
		}
	}
	return false
}

// AcceptsGzip reports whether the Accept-Encoding header names gzip, or any
// coding, with a weight above zero (RFC 9110, section 12.5.3).
func AcceptsGzip(r *http.Request) bool {
	anyCoding := false
	for _, line := range r.Header["Accept-Encoding"] {
		for line != "" {
			var item string
			item, line, _ = strings.Cut(line, ",")
			coding, params, _ := strings.Cut(item, ";")
			switch coding = strings.TrimSpace(coding); {
			case strings.EqualFold(coding, "gzip"), strings.EqualFold(coding, "x-gzip"):
				return !zeroWeight(params)
			case coding == "*":
				anyCoding = !zeroWeight(params)
			}
		}
	}
	return anyCoding
}

// zeroWeight reports whether the parameters hold a q of zero.
func zeroWeight(params string) bool {
	for params != "" {
		var p string
		p, params, _ = strings.Cut(params, ";")
		name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		if strings.EqualFold(strings.TrimSpace(name), "q") {
			value = strings.TrimSpace(value)
			return value != "" && strings.Trim(value, "0.") == ""
		}
	}
	return false
}
