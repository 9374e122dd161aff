package certs

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/andreimerlescu/concert/internal/certtest"
)

// FuzzPlain: whatever is asked for in the clear, nobody is sent to a site that
// is not ours, and the way and the query arrive as they were sent.
func FuzzPlain(f *testing.F) {
	for _, seed := range [][2]string{
		{"site.test", "/a?x=1"}, {"site.test:80", "//evil.test/"}, {"evil.test", "/"}, {"site.test@evil.test", "/"},
		{"site.test\\evil.test", "/"}, {"[::1]:80", "/%2f"}, {"site.test:x", "/"}, {"", "*"}, {"site.test#", "http://evil.test/"}, {"SITE.TEST.", "/\r\nX: y"},
	} {
		f.Add(seed[0], seed[1])
	}
	cert, key := certtest.New(f).Issue(f, certtest.Names("site.test")).Write(f, f.TempDir(), "own")
	m := New(Options{})
	p, err := m.Plan(Config{Files: []Pair{{cert, key}}})
	if err != nil {
		f.Fatal(err)
	}
	m.Use(p)
	h := m.Plain(nil, "8443")
	f.Fuzz(func(t *testing.T, host, target string) {
		r := &http.Request{Method: http.MethodGet, Host: host, RequestURI: target, URL: &url.URL{Path: target}, Header: http.Header{}}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		to := w.Header().Get("Location")
		if to == "" {
			if w.Code != http.StatusBadRequest {
				t.Errorf("status %d without a place to go", w.Code)
			}
			return
		}
		// Read as generously as the strangest client would.
		for _, begin := range []string{"https://site.test/", "https://site.test:8443/"} {
			if len(to) >= len(begin) && to[:len(begin)] == begin {
				return
			}
		}
		t.Errorf("%q %q leads to %q", host, target, to)
	})
}
