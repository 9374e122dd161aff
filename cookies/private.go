package cookies

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// KeepPrivate makes a response that is about to carry one visitor's cookie
// unfit for shared caches, which would hand it to all. A response that the
// origin did not offer to them stays as it is.
//
// Browsers may keep it as long as before: max-age and Expires stay.
func KeepPrivate(h http.Header, now time.Time) {
	targeted := hasTargeted(h)
	if !targeted && !offered(h, now) {
		return
	}
	h["Cache-Control"] = []string{privately(h["Cache-Control"])}
	if targeted {
		for name := range h {
			if isTargeted(name) {
				delete(h, name)
			}
		}
	}
}

// offered reports whether the header invites a shared cache to keep the
// response (RFC 9111, section 3). What a cache might keep by its own heuristics
// is not counted: those leave out responses that set cookies.
func offered(h http.Header, now time.Time) bool {
	var public, private bool
	fresh := expiresAfter(h, now) // counts only without max-age (section 5.3)
	for name, value := range directives(h["Cache-Control"]) {
		switch {
		case strings.EqualFold(name, "no-store"):
			return false
		case strings.EqualFold(name, "private"):
			// With field names it withholds those fields only.
			private = private || value == ""
		case strings.EqualFold(name, "public"), strings.EqualFold(name, "s-maxage"):
			public = true
		case strings.EqualFold(name, "max-age"):
			n, err := strconv.Atoi(strings.Trim(value, `"`))
			fresh = err != nil || n > 0
		}
	}
	return public || fresh && !private
}

// expiresAfter reports whether the Expires field names a time after now.
func expiresAfter(h http.Header, now time.Time) bool {
	values := h["Expires"]
	if len(values) == 0 {
		return false
	}
	t, err := http.ParseTime(values[0])
	return err == nil && t.After(now)
}

// privately returns the directives without those that are for shared caches,
// behind "private".
func privately(lines []string) string {
	var b strings.Builder
	b.WriteString("private")
	for name, value := range directives(lines) {
		switch strings.ToLower(name) {
		case "private", "public", "s-maxage", "proxy-revalidate":
			continue
		}
		b.WriteString(", ")
		b.WriteString(name)
		if value != "" {
			b.WriteByte('=')
			b.WriteString(value)
		}
	}
	return b.String()
}

// directives goes over the directives of Cache-Control lines: names as written,
// values with their quotes (RFC 9111, section 5.2).
func directives(lines []string) func(yield func(name, value string) bool) {
	return func(yield func(string, string) bool) {
		for _, rest := range lines {
			for rest != "" {
				var item string
				item, rest = cutItem(rest)
				name, value, _ := strings.Cut(item, "=")
				if name = strings.TrimSpace(name); name != "" && !yield(name, strings.TrimSpace(value)) {
					return
				}
			}
		}
	}
}

// cutItem splits a list at its first comma outside a quoted string. A quote
// that is never closed is none: what stands behind it may count elsewhere.
func cutItem(s string) (item, rest string) {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			quoted = !quoted
		case s[i] == '\\' && quoted:
			i++
		case s[i] == ',' && !quoted:
			return s[:i], s[i+1:]
		}
	}
	if quoted {
		item, rest, _ = strings.Cut(s, ",")
		return item, rest
	}
	return s, ""
}

// hasTargeted reports whether the header holds a field for one kind of shared
// cache, which that kind obeys instead of Cache-Control (RFC 9213).
func hasTargeted(h http.Header) bool {
	for name := range h {
		if isTargeted(name) {
			return true
		}
	}
	return false
}

// isTargeted knows the fields of the RFC (CDN-Cache-Control and a vendor's own
// such as Cloudflare-CDN-Cache-Control) and those older than it.
func isTargeted(name string) bool {
	switch name {
	case "Surrogate-Control", "Edge-Control", "X-Accel-Expires":
		return true
	}
	return strings.HasSuffix(name, "-Cache-Control")
}
