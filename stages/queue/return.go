package queue

import (
	"net/http"
	"net/url"

	"github.com/andreimerlescu/concert/cookies"
	"github.com/andreimerlescu/concert/internal/language"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/stages/queue/page"
)

// enterReturn answers returnPath, which a visitor passes on the way back to the
// page they wait for. The query's lang picks a language. Its to is where a page
// without JavaScript goes first, to find out whether the browser keeps cookies:
// somebody who comes without any is told so, and nothing on that page renews
// itself.
func (s *settings) enterReturn(v *pipeline.Visit) (pipeline.Verdict, error) {
	switch v.R.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodOptions:
		return answerOptions(v, allowsStatus)
	default:
		v.W.Header()["Allow"] = allowsStatus
		return pipeline.Answered, wrongMethod
	}
	query := v.R.URL.Query()
	h := v.W.Header()
	if l, ok := language.Parse(query.Get("lang")); ok {
		h["Set-Cookie"] = append(h["Set-Cookie"], s.cookies.language.Line(l.Code(), v.R.TLS != nil))
	}
	to, asked := query.Get("to"), query.Has("to")
	if !asked {
		to = referrer(v.R)
	}
	if !isLocal(to) {
		to = "/"
	}
	if asked && !keepsCookies(v.R) {
		s.counters.cookieless.Add(1)
		s.sendDocument(v, http.StatusOK, s.noCookies, page.Values{Back: to})
		return pipeline.Answered, nil
	}
	v.SetFields(private)
	h["Location"] = []string{to}
	v.W.WriteHeader(http.StatusSeeOther)
	return pipeline.Answered, nil
}

// keepsCookies reports whether one of the waiting page's cookies came back.
func keepsCookies(r *http.Request) bool {
	for _, name := range [...]string{TicketCookie, probeCookie} { // the probe is every room's
		for range cookies.Each(r.Header, name) {
			return true
		}
	}
	return false
}

// referrer is the address on this host that the request comes from.
func referrer(r *http.Request) string {
	u, err := url.Parse(r.Header.Get("Referer"))
	if err != nil || u.Host != r.Host {
		return "/"
	}
	return u.RequestURI()
}

// isLocal reports whether a redirect to the address stays on this host whatever
// a browser makes of it: browsers take a backslash for a slash, and a double
// slash for the beginning of a host's name.
func isLocal(address string) bool {
	if len(address) == 0 || address[0] != '/' || len(address) > 1 && (address[1] == '/' || address[1] == '\\') {
		return false
	}
	for _, c := range []byte(address) {
		if c <= ' ' || c >= 0x7f {
			return false
		}
	}
	return true
}
