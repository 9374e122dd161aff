package app

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/internal/allocs"
	"github.com/andreimerlescu/concert/internal/certtest"
	"github.com/andreimerlescu/concert/persist"
	"github.com/andreimerlescu/concert/pipeline"
)

// newSecure is an App with a certificate of a file.
func newSecure(t *testing.T, flags ...string) (a *App, ca *certtest.Authority, dir string) {
	t.Helper()
	ca, dir = certtest.New(t), t.TempDir()
	cert, key := ca.Issue(t, certtest.Names("site.test")).Write(t, dir, "site")
	return newLive(t, "", append(flags, "-tls-cert="+cert, "-tls-key="+key)...), ca, dir
}

// end is when the certificate in use is over.
func end(t *testing.T, a *App) time.Time {
	t.Helper()
	all := a.Stats().TLS.Certificates
	if len(all) != 1 || all[0].NotAfter == nil {
		t.Fatalf("certificates %+v", all)
	}
	return *all[0].NotAfter
}

// TestReloadReadsCertificatesAgain, all of it or nothing.
func TestReloadReadsCertificatesAgain(t *testing.T) {
	a, ca, dir := newSecure(t)
	until := time.Now().Add(99 * time.Hour).Truncate(time.Second).UTC()
	ca.Issue(t, certtest.Names("site.test"), certtest.From(time.Now(), until)).Write(t, dir, "site")
	if err := a.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := end(t, a); !got.Equal(until) {
		t.Errorf("the certificate in use ends %v, want %v", got, until)
	}
	if err := os.WriteFile(dir+"/site.key", []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := a.Reload(t.Context()); err == nil || !strings.Contains(err.Error(), "-tls-cert") || !strings.Contains(err.Error(), "site.key") {
		t.Errorf("a broken key: %v", err)
	}
	if _, err := a.Change(t.Context(), persist.By{Who: "test"}, set("cap", "3")); err != nil {
		t.Errorf("a broken key keeps the cap from being changed: %v", err)
	}
	if _, err := a.freeze(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a.thaw(); a.frozen || a.Stats().Cap != 3 {
		t.Error("a broken key keeps the process from going on after a hand-over that failed")
	}
	if got := end(t, a); !got.Equal(until) {
		t.Error("a broken certificate is in use")
	}
}

// TestTLSIsSwitchedLive, with what belongs to it, or refused as a whole.
func TestTLSIsSwitchedLive(t *testing.T) {
	a := newLive(t, "")
	ca, dir := certtest.New(t), t.TempDir()
	cert, key := ca.Issue(t, certtest.Names("site.test")).Write(t, dir, "site")
	by := persist.By{Who: "test"}
	if _, err := a.Change(t.Context(), by, set("tls_cert", `"`+cert+`"`)); err == nil || !strings.Contains(err.Error(), "-tls-key") {
		t.Errorf("a certificate without its key: %v", err)
	}
	if _, err := a.Change(t.Context(), by, set("tls_cert", `"`+cert+`"`, "tls_key", `"`+key+`"`, "hsts", `"1h"`)); err != nil {
		t.Fatal(err)
	}
	if s := a.Stats().TLS; !s.Enabled || len(s.Certificates) != 1 {
		t.Errorf("stats %+v", s)
	}
	if _, err := a.Change(t.Context(), by, set("tls_domains", `"site.test"`, "tls_cache", `"`+cert+`"`)); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("a cache that is no directory: %v", err)
	}
	if _, err := a.Change(t.Context(), by, config.Changes{Reset: []string{"tls_cert", "tls_key"}}); err != nil {
		t.Fatal(err)
	}
	if a.Stats().TLS.Enabled {
		t.Error("still on")
	}
}

// TestSuccessorKnowsTheTickets of the process before.
func TestSuccessorKnowsTheTickets(t *testing.T) {
	a := newLive(t, "")
	state, err := a.freeze(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	kept, err := readLegacy(state)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := kept.Tickets, a.certs.Tickets(); len(got.Keys) == 0 || got.Keys[0] != want.Keys[0] || !got.Made.Equal(want.Made) {
		t.Error("the keys do not arrive")
	}
}

// strict is an origin with an opinion of its own.
type strict struct{ instant }

func (s strict) Serve(v *pipeline.Visit) error {
	v.W.Header().Set(hstsField, "max-age=1")
	return s.instant.Serve(v)
}

// TestHSTSIsSaidOverTLSOnly, once, and allocates nothing.
func TestHSTSIsSaidOverTLSOnly(t *testing.T) {
	a, _, _ := newSecure(t, "-hsts=1h")
	h := a.hsts.saying(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	plain, secure := httptest.NewRequest("GET", "http://site.test/", nil), httptest.NewRequest("GET", "https://site.test/", nil)
	for want, r := range map[string]*http.Request{"": plain, "max-age=3600": secure} {
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Header().Get(hstsField) != want {
			t.Errorf("TLS %v: said %q", r.TLS != nil, w.Header().Get(hstsField))
		}
	}
	w := httptest.NewRecorder()
	if n := allocs.PerRun(1000, func() { h.ServeHTTP(w, secure) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
	b := newApp(t, "-hsts=2h")
	b.options.Origin = strict{}
	if err := b.Reconfigure(t.Context(), b.cfg.Load()); err != nil {
		t.Fatal(err)
	}
	w = httptest.NewRecorder()
	b.hsts.saying(b.Handler()).ServeHTTP(w, secure)
	if got := w.Header().Values(hstsField); len(got) != 1 || got[0] != "max-age=7200" {
		t.Errorf("with an origin of its own opinion: %q", got)
	}
}
