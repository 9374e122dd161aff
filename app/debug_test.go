package app

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const gzipMagic = "\x1f\x8b" // what a profile begins with

func TestSnapshots(t *testing.T) {
	a := newApp(t)
	f := func(query, begins string) {
		t.Helper()
		w := ask(a, "GET", "/_room/debug/"+query, "", "the-right-token")
		if w.Code != http.StatusOK || !strings.HasPrefix(w.Body.String(), begins) || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %v %.40q, want it to begin with %q", query, w.Code, w.Header(), w.Body, begins)
		}
	}
	f("heap?gc=1", gzipMagic)
	f("allocs", gzipMagic)
	f("goroutine", gzipMagic)
	f("threadcreate", gzipMagic)
	f("goroutine?debug=2", "goroutine ")
	f("heap?debug=1", "heap profile: ")
	if w := ask(a, "GET", "/_room/debug/goroutine?debug=2", "", "the-right-token"); !strings.Contains(w.Body.String(), "app.TestSnapshots") {
		t.Error("the goroutines lack the one that asks")
	}
}

func TestDebugIsForAdmins(t *testing.T) {
	a := newApp(t)
	for _, route := range debugRoutes() {
		if w := ask(a, "GET", route.Path, "", ""); w.Code != http.StatusUnauthorized {
			t.Errorf("%s without a token: %d", route.Path, w.Code)
		}
	}
}

func TestDebugParametersAreChecked(t *testing.T) {
	a := newApp(t)
	for query, want := range map[string]string{
		"profile?seconds=0":           "want one number from 1 to 120",
		"trace?seconds=121":           "seconds",
		"mutex?seconds=1&seconds=2":   "want one number",
		"block?seconds=soon":          "soon",
		"heap?gc=2":                   "gc",
		"goroutine?debug=3&gc=-1":     "debug",
		"allocs?debug=0x1":            "0x1",
		"threadcreate?debug=":         "want one number from 0 to 2",
		"profile?seconds=99999999999": "from 1 to 120",
	} {
		w := ask(a, "GET", "/_room/debug/"+query, "", "the-right-token")
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s, want 400 with %q", query, w.Code, w.Body, want)
		}
	}
}

// TestWatching watches for a minute and a half of the bubble's time, and refuses a second
// watcher meanwhile.
func TestWatching(t *testing.T) {
	for _, name := range []string{"mutex", "block"} {
		synctest.Test(t, func(t *testing.T) {
			a := newApp(t)
			first := make(chan *httptest.ResponseRecorder)
			began := time.Now()
			go func() { first <- ask(a, "GET", "/_room/debug/"+name+"?seconds=90", "", "the-right-token") }()
			synctest.Wait()
			if w := ask(a, "GET", "/_room/debug/block", "", "the-right-token"); w.Code != http.StatusConflict {
				t.Errorf("%s: a second watcher is answered %d", name, w.Code)
			}
			if w := <-first; w.Code != http.StatusOK || !strings.HasPrefix(w.Body.String(), gzipMagic) {
				t.Errorf("%s: %d %.40q, want a profile", name, w.Code, w.Body)
			}
			if took := time.Since(began); took != 90*time.Second {
				t.Errorf("%s: watched for %v", name, took)
			}
		})
	}
}

// TestWatchingEndsWithItsReader has clients leave, after which others can watch.
func TestWatchingEndsWithItsReader(t *testing.T) {
	a := newApp(t)
	for _, tt := range []struct{ name, begins string }{{"profile", gzipMagic}, {"trace", "go 1."}, {"profile", gzipMagic}} {
		ctx, leave := context.WithCancel(t.Context())
		leave()
		r := httptest.NewRequestWithContext(ctx, "GET", "/_room/debug/"+tt.name+"?seconds=120", nil)
		r.Header.Set("Authorization", "Bearer the-right-token")
		w := httptest.NewRecorder()
		a.Handler().ServeHTTP(w, r)
		if w.Code != http.StatusOK || !strings.HasPrefix(w.Body.String(), tt.begins) {
			t.Fatalf("%s: %d %.40q", tt.name, w.Code, w.Body)
		}
	}
}
