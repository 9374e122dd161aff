package paths

import "strings"

// Kind says how a path was written.
type Kind uint8

// The kinds, from harmless to useless.
const (
	// Plain: the path as sent is its own clean form.
	Plain Kind = iota
	// Spelled: the path is written differently from its clean form, such as
	// `/%63ss/a.css`, but every origin reads it alike.
	Spelled
	// Ambiguous: origins may read the path differently, as with `//`, `%2F`,
	// `;params` and trailing dots. Honest sites have such paths.
	Ambiguous
	// Crafted: as Ambiguous, with something no honest client sends: a dot
	// segment (browsers resolve them), a backslash, a control character or
	// overlong UTF-8. Such a path has no loose class, whatever its readings.
	Crafted
	// Unreadable: the target holds no path (`*`, `host:port`, nothing), or one
	// with too many readings to look at. It must not be forwarded: no rule can
	// be held against it.
	Unreadable
)

// String returns the kind's name in lower case, for logs.
func (k Kind) String() string {
	switch k {
	case Plain:
		return "plain"
	case Spelled:
		return "spelled"
	case Ambiguous:
		return "ambiguous"
	case Crafted:
		return "crafted"
	}
	return "unreadable"
}

// Path is what a request path means. The zero Path is not a path; make one
// with [Canonical].
type Path struct {
	// Clean is the path decoded, with slashes merged, dot segments resolved and
	// everything dropped that some origin drops. It starts with a slash, unless
	// the path is Unreadable: then it is empty. It is for rules and for people;
	// the origin is sent the target as it came.
	Clean string
	// Kind says how the path was written.
	Kind Kind

	upper    bool     // a reading may hold ASCII capitals
	readings []string // every reading, without repeats; nil: Clean alone
}

// Canonical reads a request target as it stood in the request line (see
// [net/http.Request.RequestURI]), or an escaped path. The query is ignored.
func Canonical(target string) Path {
	if target == "" || target[0] != '/' {
		return canonicalAbsolute(target)
	}
	upper, prev := false, byte(0)
	for i := 0; i < len(target); i++ {
		switch c := target[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '_':
		case c >= 'A' && c <= 'Z':
			upper = true
		case c == '/':
			// A segment that is empty or ends in a dot has other readings.
			if prev == '/' || prev == '.' {
				return readAll(target)
			}
		case c == '?':
			return endPlain(target, i, upper, prev)
		case c == '%' || c == ';' || c == '\\' || c == '#' || c <= ' ' || c >= 0x7f,
			c == ':' && prev == ':':
			return readAll(target)
		}
		prev = target[i]
	}
	return endPlain(target, len(target), upper, prev)
}

// endPlain finishes the scan of a path that ends before target[end].
func endPlain(target string, end int, upper bool, prev byte) Path {
	if prev == '.' {
		return readAll(target)
	}
	return Path{Clean: target[:end], upper: upper}
}

// canonicalAbsolute reads the path of an absolute-form target, which a server
// must accept (RFC 9112, 3.2.2); any other has none.
func canonicalAbsolute(target string) Path {
	scheme, rest, ok := strings.Cut(target, "://")
	if !ok || scheme == "" || strings.ContainsFunc(scheme, notScheme) {
		return Path{Kind: Unreadable}
	}
	i := strings.IndexAny(rest, "/?#")
	switch {
	case i < 0 || rest[i] == '?':
		return Path{Clean: "/"}
	case rest[i] == '#':
		return Path{Kind: Unreadable}
	}
	return Canonical(rest[i:])
}

func notScheme(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '+' && r != '-' && r != '.'
}

// each calls f with every reading until f returns false.
func (p *Path) each(f func(reading string) bool) {
	if p.readings == nil {
		f(p.Clean)
		return
	}
	for _, r := range p.readings {
		if !f(r) {
			return
		}
	}
}
