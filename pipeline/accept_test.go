package pipeline

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestAcceptsGzip(t *testing.T) {
	f := func(want bool, lines ...string) {
		t.Helper()
		r := httptest.NewRequest("GET", "/", nil)
		r.Header["Accept-Encoding"] = lines
		if got := AcceptsGzip(r); got != want {
			t.Errorf("%q: %v", lines, got)
		}
	}
	f(false)
	f(false, "")
	f(false, "identity, br, gzipped")
	f(true, "gzip")
	f(true, "br, GZIP;q=0.001, zstd")
	f(true, "br", "x-gzip")
	f(false, "gzip;q=0")
	f(false, "gzip;q=0.000, *")
	f(true, "br;q=1, *;q=0.5")
	f(false, "*;q=0")
	f(true, "gzip; q=")
}

func TestWantsHTML(t *testing.T) {
	f := func(want bool, accept ...string) {
		t.Helper()
		r := &http.Request{Header: http.Header{"Accept": accept}}
		if got := WantsHTML(r); got != want {
			t.Errorf("%q: %v", accept, got)
		}
	}
	f(false)
	f(false, "*/*")
	f(false, "application/json")
	f(true, "TEXT/HTML")
	f(true, "application/json, text/html;q=0.1")
	f(true, "application/json", "text/html")
	f(false, "text/html;q=0")
	f(false, "text/html; q=0.000, */*")
	f(true, "text/html;level=1;q=0.5")
	f(true, "text/html;q=")
	f(false, "text/html-sandboxed")
	f(false, "xtext/html")
}
