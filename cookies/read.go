package cookies

import (
	"iter"
	"net/http"
	"net/textproto"
	"strings"
)

const header = "Cookie"

// Each yields the value of every cookie called name, in the order sent. Values
// are as sent, white space around them removed.
func Each(h http.Header, name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, line := range h[header] {
			for more := true; more; {
				var pair string
				pair, line, more = strings.Cut(line, ";")
				if n, value := split(pair); n == name && !yield(value) {
					return
				}
			}
		}
	}
}

// split returns the name and the value of one cookie. Without an equals sign
// all of it is the name.
func split(pair string) (name, value string) {
	name, value, _ = strings.Cut(pair, "=")
	return textproto.TrimString(name), textproto.TrimString(value)
}
