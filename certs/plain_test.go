package certs

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/andreimerlescu/concert/internal/certtest"
)

// managerOf has a plan in use.
func managerOf(t *testing.T, c Config) *Manager {
	t.Helper()
	m := New(Options{})
	p, err := m.Plan(c)
	if err != nil {
		t.Fatal(err)
	}
	m.Use(p)
	return m
}

// own is a pair of the test's own for the names.
func own(t *testing.T, ca *certtest.Authority, names ...string) Pair {
	t.Helper()
	cert, key := ca.Issue(t, certtest.Names(names...)).Write(t, t.TempDir(), "own")
	return Pair{cert, key}
}

func TestPlainSendsOnToHTTPS(t *testing.T) {
	m := managerOf(t, Config{
		Files:   []Pair{own(t, certtest.New(t), "own.test", "*.wild.test", "192.0.2.7")},
		Domains: []string{"site.test", "www.site.test"}, Cache: t.TempDir(), HTTP01: true,
	})
	site := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	h := m.Plain(site, "8443")
	f := func(method, host, target string, status int, location string) {
		t.Helper()
		r := httptest.NewRequest(method, "/", nil)
		r.Host, r.RequestURI, r.URL.Path = host, target, target
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if got := w.Header().Get("Location"); w.Code != status || got != location {
			t.Errorf("%s http://%s%s: %d to %q, want %d to %q", method, host, target, w.Code, got, status, location)
		}
		if w.Code == http.StatusPermanentRedirect && w.Header().Get("Cache-Control") != "no-store" {
			t.Error("a browser would keep the way for ever")
		}
	}
	f("GET", "site.test", "/a//b%2Fc?x=1", 308, "https://site.test/a//b%2Fc?x=1")
	f("POST", "www.site.test", "/order", 308, "https://www.site.test/order")
	f("GET", "SITE.test:80", "/", 308, "https://site.test:8443/")
	f("GET", "own.test", "/", 308, "https://own.test/")
	f("GET", "a.wild.test", "/", 308, "https://a.wild.test/")
	f("GET", "a.b.wild.test", "/", 308, "https://site.test/")
	f("GET", "192.0.2.7", "/", 308, "https://192.0.2.7/")
	f("GET", "192.0.2.8", "/", 308, "https://site.test/")
	f("GET", "evil.test", "/x", 308, "https://site.test/x")
	f("GET", "a b", "/", 400, "")
	f("GET", "", "/", 400, "")
	f("OPTIONS", "site.test", "*", 400, "")
	f("GET", "site.test", "http://evil.test/", 400, "")
	f("GET", "site.test", challengePath+"nobody-asked", 404, "")
	f("GET", "own.test", challengePath+"of-certbot", 308, "https://own.test"+challengePath+"of-certbot")
	f("GET", "own.test", "//evil.test/", 308, "https://own.test//evil.test/")

	off := New(Options{})
	h = off.Plain(site, "443")
	f("GET", "site.test", "/", http.StatusTeapot, "")
}
