// Package cookies reads, removes and sets the proxy's own cookies and leaves
// everybody else's exactly as they are.
//
//	for value := range cookies.Each(r.Header, "concert_admit") { … }
//	rest, changed := cookies.StripLine(line, names)
//	passCookie, err := cookies.NewTemplate(&http.Cookie{Name: "concert_admit", Path: "/", MaxAge: 600, HttpOnly: true, SameSite: http.SameSiteLaxMode})
//	w.Header().Add("Set-Cookie", passCookie.Line(token, secure))
//
// net/http parses cookies into its own form and writes that form back, which
// drops or rewrites values that sites do use (quotes, spaces, non-ASCII). Here
// a Cookie header is cut at its semicolons, and a cookie's name is what stands
// before the first equals sign, white space around it removed: the same names
// that net/http sees. Names match exactly, upper and lower case included, so
// look-alikes belong to the site. Values are never interpreted.
//
// A response that sets one visitor's cookie must not be kept by a cache that
// serves it to others: [KeepPrivate] sees to that.
//
// One name may come several times, over one or several header lines, because
// browsers send a cookie for each domain and path it was set for. [Each] gives
// them in order, [MaxSame] at most, and [StripLine] removes all of a line.
//
// Reading allocates nothing, and neither does stripping when there is nothing
// to strip or when what stays is in one piece. Functions are safe for
// concurrent use on different headers; a [Template] does not change.
package cookies
