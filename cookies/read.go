package cookies

import (
	"iter"
	"net/http"
	"net/textproto"
	"strings"
)

const header = "Cookie"

// MaxSame is how many cookies of one name are looked at. A browser sends one for
// each path and parent domain it has one for; who sends more wants each of them
// to be checked.
const MaxSame = 64

// Each yields the values of the first [MaxSame] cookies called name, in the order
// sent. Values are as sent, white space around them removed.
func Each(h http.Header, name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		left := MaxSame
		for _, line := range h[header] {
			for more := true; more; {
				var pair string
				pair, line, more = cutPair(line)
				value, ok := valueOf(pair, name)
				if !ok {
					continue
				}
				if left--; left < 0 || !yield(value) {
					return
				}
			}
		}
	}
}

// cutPair cuts a header line behind its first cookie.
func cutPair(line string) (pair, rest string, more bool) {
	if i := strings.IndexByte(line, ';'); i >= 0 {
		return line[:i], line[i+1:], true
	}
	return line, "", false
}

// valueOf returns the value of a cookie if it is called name, as split would,
// but takes the cookies of others apart no further than it must.
func valueOf(pair, name string) (value string, ok bool) {
	for pair != "" && isBlank(pair[0]) {
		pair = pair[1:]
	}
	if !strings.HasPrefix(pair, name) {
		return "", false
	}
	n, value := split(pair)
	return value, n == name
}

// isBlank reports whether c is white space to [textproto.TrimString].
func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// split returns the name and the value of one cookie. Without an equals sign
// all of it is the name.
func split(pair string) (name, value string) {
	name, value, _ = strings.Cut(pair, "=")
	return textproto.TrimString(name), textproto.TrimString(value)
}
