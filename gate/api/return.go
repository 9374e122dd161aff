package api

import (
	"net/url"
	"strings"
)

// maxReturn is the longest address to come back to, in bytes.
const maxReturn = 2048

// returnURL is where to send an admitted visitor: the address they wanted, with
// the token, on the site's own origin whatever they ask for. Without a site
// there is nowhere to send them.
func returnURL(target *url.URL, wanted, token string) string {
	if target == nil {
		return ""
	}
	u := *target
	if back := onOrigin(target, wanted); back != nil {
		u.Path, u.RawPath, u.RawQuery = back.Path, back.RawPath, back.RawQuery
		u.Fragment, u.RawFragment = back.Fragment, back.RawFragment
	}
	if u.Path == "" {
		u.Path = "/"
	}
	pair := "token=" + url.QueryEscape(token)
	if query := withoutToken(u.RawQuery); query != "" {
		pair = query + "&" + pair
	}
	u.RawQuery = pair
	return u.String()
}

// onOrigin reads an address on the target's origin: an absolute path, or a URL
// that begins with the origin. It returns nil for everything else, and for what
// browsers read otherwise than this program does: "//host", backslashes,
// control characters.
func onOrigin(target *url.URL, wanted string) *url.URL {
	if wanted == "" || len(wanted) > maxReturn || strings.ContainsFunc(wanted, func(c rune) bool { return c < ' ' || c == '\\' || c == 0x7f }) {
		return nil
	}
	u, err := url.Parse(wanted)
	switch {
	case err != nil || u.User != nil || u.Opaque != "":
		return nil
	case u.Scheme == "" && u.Host == "" && strings.HasPrefix(wanted, "/") && !strings.HasPrefix(wanted, "//"):
	case u.Scheme == target.Scheme && strings.EqualFold(u.Host, target.Host):
	default:
		return nil
	}
	if strings.HasPrefix(u.Path, "//") {
		return nil
	}
	return u
}

// withoutToken drops what an address may hold of an earlier visit.
func withoutToken(query string) string {
	var kept []string
	for pair := range strings.SplitSeq(query, "&") {
		if name, _, _ := strings.Cut(pair, "="); pair != "" && name != "token" {
			kept = append(kept, pair)
		}
	}
	return strings.Join(kept, "&")
}
