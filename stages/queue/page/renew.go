package page

import (
	"strconv"

	"github.com/andreimerlescu/concert/paths"
)

const (
	// minRefresh is the least time between reloads of a page without
	// JavaScript, in seconds: less would not let anybody read it.
	minRefresh = 3
	// maxBack is the longest address that is carried along, in bytes. With a
	// longer one the cookies are not tried.
	maxBack = 1 << 10
)

// appendRefresh appends the value of a refresh (HTML Standard, section 4.2.5.3,
// "Refresh state"). While it is not known whether the browser keeps cookies, it
// goes where that shows, so that a browser that keeps none is told so instead
// of taking a new place each time.
func appendRefresh(dst []byte, v Values) []byte {
	dst = strconv.AppendInt(dst, max(Seconds(v.PollAfter), minRefresh), 10)
	if v.Back == "" || len(v.Back) > maxBack {
		return dst
	}
	return appendQuery(append(dst, ";url="+paths.QueueReturn+"?to="...), v.Back)
}

// appendQuery appends text as the value of a query's field. What it leaves as
// it is means nothing in markup.
func appendQuery(dst []byte, text string) []byte {
	const hex = "0123456789ABCDEF"
	for _, c := range []byte(text) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '/' || c == '-' || c == '.' || c == '_' || c == '~' {
			dst = append(dst, c)
		} else {
			dst = append(dst, '%', hex[c>>4], hex[c&15])
		}
	}
	return dst
}

// appendEscaped appends text for an attribute's value or an element's text.
func appendEscaped(dst []byte, text string) []byte {
	for _, c := range []byte(text) {
		switch c {
		case '&':
			dst = append(dst, "&amp;"...)
		case '"':
			dst = append(dst, "&quot;"...)
		case '\'':
			dst = append(dst, "&#39;"...)
		case '<':
			dst = append(dst, "&lt;"...)
		case '>':
			dst = append(dst, "&gt;"...)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}
