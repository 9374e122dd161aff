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
				pair, line, more = strings.Cut(line, ";")
				if !strings.Contains(pair, name) { // nearly all of a site's own
					continue
				}
				n, value := split(pair)
				if n != name {
					continue
				}
				if left--; left < 0 || !yield(value) {
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
