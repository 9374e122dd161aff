package protect

import (
	"net/http"
	"net/url"
)

// The headers with which a proxy tells what it was asked for.
const (
	uriHeader    = "X-Original-URI"
	methodHeader = "X-Original-Method"
)

// Auth answers subrequests of a proxy that asks whether to let a request
// through, such as nginx with auth_request: 204 for yes. 401 sends the visitor
// to the waiting room and 403 to the clean address after a token was taken;
// both have a Location for the proxy to redirect to, the latter with a
// Set-Cookie to pass on. 503 says that it cannot be told. The proxy sends the
// address in X-Original-URI, the method in X-Original-Method, and the request's
// Cookie and Authorization; examples/nginx has all of it.
func (g *Guard) Auth() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		address, err := url.ParseRequestURI(r.Header.Get(uriHeader))
		if err != nil {
			g.o.Log.Error("the proxy did not say what it was asked for", "header", uriHeader)
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		method := r.Header.Get(methodHeader)
		if method == "" {
			method = http.MethodGet
		}
		switch d := g.judge(r, method, address); d.verdict {
		case pass:
			w.WriteHeader(http.StatusNoContent)
		case enter:
			if d.cookie != nil {
				http.SetCookie(w, d.cookie)
			}
			redirect(w, d.to, http.StatusForbidden)
		case wait, unsent:
			redirect(w, d.to, http.StatusUnauthorized)
		case refuse:
			redirect(w, "/", http.StatusUnauthorized)
		default:
			w.Header().Set("Retry-After", "5")
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
}
