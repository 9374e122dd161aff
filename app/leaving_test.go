package app

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// TestLeavingSendsPagesOn: while another process takes over, a page request on
// an open connection is sent to the same address.
func TestLeavingSendsPagesOn(t *testing.T) {
	a := newLive(t, "", "-bypass=/health", "-door-max=0")
	h := a.newSite(nil).http.Handler
	f := func(method, target, body string, header map[string]string, status int, location string) {
		t.Helper()
		r := httptest.NewRequest(method, "/", strings.NewReader(body))
		r.RequestURI, r.URL.Path = target, strings.ReplaceAll(target, "?x=1", "")
		for k, v := range header {
			r.Header.Set(k, v)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != status || w.Header().Get("Location") != location {
			t.Errorf("%s %s: %d to %q, want %d to %q", method, target, w.Code, w.Header().Get("Location"), status, location)
		}
		if closed := w.Header().Get("Connection") == "close"; closed != a.stages.leaving.Leaves() {
			t.Errorf("%s %s: connection closed: %v", method, target, closed)
		}
		if location != "" && (w.Header().Get("Cache-Control") != "no-store" || w.Body.Len() > 0) {
			t.Errorf("%s %s: header %v, body %q", method, target, w.Header(), w.Body)
		}
	}
	html := map[string]string{"Accept": "text/html"}
	f("GET", "/shop?x=1", "", html, 200, "")
	if _, err := a.freeze(t.Context()); err != nil {
		t.Fatal(err)
	}
	f("GET", "/shop?x=1", "", html, 307, "/shop?x=1")
	f("GET", "/", "", html, 307, "/")
	f("POST", "/order", "item=1", html, 307, "/order")
	f("GET", "//evil.test/", "", html, 200, "")
	f("GET", "/health", "", html, 200, "")
	f("GET", "/_room/healthz", "", nil, 200, "")
	a.thaw()
	f("GET", "/shop?x=1", "", html, 200, "")
}
