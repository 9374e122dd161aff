package bench

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/app"
	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/internal/allocs"
	"github.com/andreimerlescu/concert/internal/cputime/cputest"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/pipeline/pipelinetest"
)

// instant is an origin that costs nothing.
type instant struct{}

func (instant) Serve(v *pipeline.Visit) error {
	v.EditResponse(http.StatusOK, v.W.Header())
	v.W.WriteHeader(http.StatusOK)
	return nil
}

// newConcert is the whole of Concert, configured as in production, with an
// origin that costs nothing.
func newConcert(tb testing.TB) http.Handler {
	tb.Helper()
	return newApp(tb, instant{}, "-cap", "50", "-assets", "/css/*,/js/*,/images/*", "-asset-public", "/uploads/*",
		"-bypass", "/favicon.ico,/robots.txt", "-stream-paths", "/ws").Handler()
}

// newApp is Concert before that origin.
func newApp(tb testing.TB, origin pipeline.Origin, flags ...string) *app.App {
	tb.Helper()
	loaded, err := config.Load(append([]string{"-access-log=false"}, flags...), nil)
	if err != nil {
		tb.Fatal(err)
	}
	a, err := app.New(loaded.Config, app.Options{Origin: origin})
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

// admitted is a request as a browser behind nginx sends it, with a pass.
func admitted(tb testing.TB, h http.Handler, path string) *http.Request {
	tb.Helper()
	r := httptest.NewRequest("GET", "/", nil)
	r.RemoteAddr = "127.0.0.1:40000"
	r.Header.Set("Accept", "text/html")
	r.Header.Set("X-Forwarded-For", "203.0.113.9")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	cookie, _, ok := strings.Cut(w.Header().Get("Set-Cookie"), ";")
	if w.Code != http.StatusOK || !ok {
		tb.Fatalf("no pass: %d %v", w.Code, w.Header())
	}
	again := httptest.NewRequest("GET", path, nil)
	again.RemoteAddr = r.RemoteAddr
	again.Header = r.Header.Clone()
	again.Header.Set("Cookie", "session=abcdef; "+cookie)
	return again
}

// tiers are the ways through the guards.
var tiers = map[string]string{
	"page": "/shop/item/42?ref=mail", "asset": "/css/site.css", "public": "/uploads/a.png", "bypass": "/robots.txt",
}

// TestGuardsAllocateNothing holds invariant 8 over the whole slice of stages.
func TestGuardsAllocateNothing(t *testing.T) {
	h := newConcert(t)
	for name, path := range tiers {
		r := admitted(t, h, path)
		w := pipelinetest.Nowhere{}
		h.ServeHTTP(w, r)
		if n := allocs.PerRun(1000, func() { h.ServeHTTP(w, r) }); n != 0 {
			t.Errorf("%s: %v allocations per request", name, n)
		}
	}
}

// BenchmarkGuards is what Concert adds to a request besides proxying it. On a
// machine that does other things, cpu-ns/op is the figure to go by.
func BenchmarkGuards(b *testing.B) {
	h := newConcert(b)
	for name, path := range tiers {
		b.Run(name, func(b *testing.B) {
			r := admitted(b, h, path)
			w := pipelinetest.Nowhere{}
			b.ReportAllocs()
			cputest.Report(b, func() {
				for b.Loop() {
					h.ServeHTTP(w, r)
				}
			})
		})
	}
}
