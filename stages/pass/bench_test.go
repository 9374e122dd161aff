package pass

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/internal/allocs"
	"github.com/andreimerlescu/concert/pipeline"
)

// visit is an asset visit with a Cookie header; the pass in it is fresh.
func visit(tb testing.TB, cookie string) (*Stage, *pipeline.Visit) {
	tb.Helper()
	s, err := New(Config{Keyring: keyring(tb, mainSecret), TTL: 10 * time.Minute})
	if err != nil {
		tb.Fatal(err)
	}
	r := httptest.NewRequest("GET", "/css/a.css", nil)
	r.Header["Cookie"] = []string{cookie}
	return s, &pipeline.Visit{R: r, Start: time.Now(), Class: pipeline.Asset}
}

// cookieHeaders are Cookie headers by what is in them.
func cookieHeaders(tb testing.TB) map[string]string {
	k := keyring(tb, mainSecret)
	fresh := cookie(k, newToken([16]byte{7}, time.Now(), 10*time.Minute))
	return map[string]string{
		"valid":      fresh,
		"among-many": strings.Repeat("wordpress_logged_in=andrei%7C1800000000%7Cx; ", 8) + fresh,
		"twice":      cookie(keyring(tb, otherSecret), newToken([16]byte{7}, time.Now(), 10*time.Minute)) + "; " + fresh,
		"none":       "a=1; b=2",
	}
}

func TestAllocs(t *testing.T) {
	for name, c := range cookieHeaders(t) {
		s, v := visit(t, c)
		if n := allocs.PerRun(1000, func() { _, _ = s.Enter(v) }); n != 0 {
			t.Errorf("%s: %v allocations to check the pass, want 0", name, n)
		}
	}
}

func BenchmarkEnter(b *testing.B) {
	for name, c := range cookieHeaders(b) {
		b.Run(name, func(b *testing.B) {
			s, v := visit(b, c)
			b.ReportAllocs()
			for b.Loop() {
				_, _ = s.Enter(v)
			}
		})
	}
}

func BenchmarkIssue(b *testing.B) {
	s, v := visit(b, "")
	h := make(map[string][]string)
	b.ReportAllocs()
	for b.Loop() {
		clear(h)
		s.EditResponse(v, 200, h)
	}
}
