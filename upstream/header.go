package upstream

import (
	"net/http"
	"net/textproto"
	"strings"

	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/cookies"
	"github.com/andreimerlescu/concert/pipeline"
)

// ownCookies are Concert's, and no business of the origin's.
var ownCookies = []string{"room_ticket", "room_pass", "room_probe", "concert_admit", "concert_priority", "concert_lang", "concert_portal", "concert_portal_browser", "concert_portal_instance"}

// field is a field of the request's header for the origin.
type field struct {
	name  string   // in canonical case
	lines []string // the visitor's own; nil when there is value instead
	value string
}

// fields appends to fs what the origin gets of the visitor's header, and what
// Concert adds to it. The visitor's stays as it came.
func (p *Proxy) fields(fs []field, v *pipeline.Visit, upgrade string) []field {
	in := v.R.Header
	for name, lines := range in {
		if p.passes(name, v) {
			fs = append(fs, field{name: name, lines: lines})
		}
	}
	add := func(name, value string) {
		if value != "" {
			fs = append(fs, field{name: name, value: value})
		}
	}
	add("X-Forwarded-For", clientip.ForwardedFor(in, v.Client))
	add("X-Forwarded-Proto", clientip.ForwardedProto(in, v.Client, scheme(v.R)))
	add("X-Forwarded-Host", v.R.Host)
	if hasToken(in["Te"], "trailers") {
		add("Te", "trailers")
	}
	if upgrade != "" {
		add("Connection", "Upgrade")
		add("Upgrade", upgrade)
	}
	if connection := in["Connection"]; !named("Cookie", connection) {
		for _, line := range in["Cookie"] {
			if rest, changed := cookies.StripLine(line, ownCookies); rest != "" {
				add("Cookie", rest)
			} else if !changed {
				fs = append(fs, field{name: "Cookie", lines: emptyLine})
			}
		}
	}
	return fs
}

// emptyLine is a field that was sent without a value.
var emptyLine = []string{""}

// passes reports whether a field of the visitor's passes as it came.
func (p *Proxy) passes(name string, v *pipeline.Visit) bool {
	switch name {
	case "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "Cookie":
		return false // see fields
	case "Expect":
		if v.R.ContentLength == 0 || !v.R.ProtoAtLeast(1, 1) {
			return false // there is nothing to wait with
		}
	}
	trusted := v.Client.PeerTrusted
	if hopByHop(name) || private(name) || clientip.Strips(name, trusted) || p.poses(name, trusted) {
		return false
	}
	// The forwarding headers are Concert's to write, and what a trusted peer
	// said before is part of that.
	connection := v.R.Header["Connection"]
	return !named(name, connection) || strings.HasPrefix(name, "X-Forwarded-") || name == p.cfg.ClientProtoHeader
}

// requestHeader makes h the header for net/http's transport.
func (p *Proxy) requestHeader(h http.Header, v *pipeline.Visit, upgrade string) {
	for _, f := range p.fields(nil, v, upgrade) {
		if f.lines != nil {
			h[f.name] = f.lines
		} else {
			h[f.name] = append(h[f.name], f.value)
		}
	}
	if _, sent := h["User-Agent"]; !sent {
		h["User-Agent"] = nil // keeps net/http from inventing one
	}
	hideIdempotencyKey(h)
}

// hopByHop reports whether a field concerns one connection only (RFC 9110,
// section 7.6.1, and what is sent in practice), or is written anew for the
// next one.
func hopByHop(name string) bool {
	switch name {
	case "Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authorization",
		"Proxy-Authentication-Info", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Http2-Settings":
		return true
	}
	return false
}

// private reports whether a request field is not the origin's business.
// Content-Length is written from the request's own length; Proxy would become
// HTTP_PROXY in a CGI script (httpoxy, CVE-2016-5385).
func private(name string) bool {
	return name == "Content-Length" || name == "Concert-Debug" || name == "Proxy"
}

// named reports whether Connection lines name a field; "close" is no name.
func named(field string, connection []string) bool {
	return field != "Close" && hasToken(connection, field)
}

// poses reports whether a field is the client-protocol header of a stranger, or
// one of its punctuation twins (which CGI cannot tell apart), whoever sent them.
func (p *Proxy) poses(name string, trusted bool) bool {
	own := p.cfg.ClientProtoHeader
	if len(name) != len(own) || own == "" {
		return false
	}
	if name == own {
		return !trusted
	}
	return strings.EqualFold(strings.ReplaceAll(name, "_", "-"), own)
}

// hideIdempotencyKey keeps net/http from repeating a request because it bears
// such a key: whether to repeat is for whoever wrote the key to decide. The
// transport looks for the canonical spelling; on the wire case means nothing.
func hideIdempotencyKey(h http.Header) {
	for _, name := range [...]string{"Idempotency-Key", "X-Idempotency-Key"} {
		if values, ok := h[name]; ok {
			delete(h, name)
			h[strings.ToLower(name)] = values
		}
	}
}

// upgradeWanted returns the protocol, as the visitor spelt it, of a request
// to switch to WebSocket (RFC 6455, section 4.1), and "" for all others. Other
// upgrades (h2c, TLS) would turn guarded requests into unguarded bytes.
func upgradeWanted(r *http.Request) string {
	if r.ProtoMajor != 1 || r.ProtoMinor == 0 || r.Method != http.MethodGet || r.ContentLength != 0 {
		return ""
	}
	if up := r.Header["Upgrade"]; len(up) == 1 && pipeline.IsWebSocket(up[0]) && hasToken(r.Header["Connection"], "upgrade") {
		return up[0]
	}
	return ""
}

// hasToken reports whether one of the comma-separated lists holds token.
func hasToken(lines []string, token string) bool {
	for _, line := range lines {
		for line != "" {
			var item string
			item, line, _ = strings.Cut(line, ",")
			if strings.EqualFold(textproto.TrimString(item), token) {
				return true
			}
		}
	}
	return false
}

// scheme is what the visitor's connection speaks.
func scheme(r *http.Request) string {
	if r.TLS != nil {
		return "https"
	}
	return "http"
}
