package app

import (
	"bytes"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/config"
)

// TestQueryStringsCanBeLeftOut: a query may hold a token or an address.
func TestQueryStringsCanBeLeftOut(t *testing.T) {
	f := func(flag, want string) {
		t.Helper()
		loaded, err := config.Load([]string{flag}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var access bytes.Buffer
		a, err := New(loaded.Config, Options{Origin: instant{}, AccessLog: slog.New(slog.NewTextHandler(&access, nil))})
		if err != nil {
			t.Fatal(err)
		}
		a.Handler().ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/page?token=secret", nil))
		if !strings.Contains(access.String(), want) {
			t.Errorf("%s: %s does not hold %s", flag, access.String(), want)
		}
	}
	f("-access-log-query=true", `target="/page?token=secret"`)
	f("-access-log-query=false", `target=/page?… `)
}

// TestWhatIsNotLogged: lines that nobody reads would drown the others.
func TestWhatIsNotLogged(t *testing.T) {
	loaded, err := config.Load([]string{"-ban-paths", "/.env", "-asset-public", "/pub/*"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var access, log bytes.Buffer
	a, err := New(loaded.Config, Options{
		Origin: instant{}, AccessLog: slog.New(slog.NewTextHandler(&access, nil)), Log: slog.New(slog.NewTextHandler(&log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	get := func(peer, path string) {
		r := httptest.NewRequest("GET", path, nil)
		r.RemoteAddr = peer + ":4711"
		a.Handler().ServeHTTP(httptest.NewRecorder(), r)
	}
	for _, path := range []string{"/page", "/_room/quote", "/pub/a.png", "/queue/status", "/_room/healthz", "/_room/stats"} {
		get("203.0.113.1", path)
	}
	for _, path := range []string{"/.env", "/banned", "/queue/status", "/pub/a.png"} {
		get("203.0.113.2", path)
	}
	lines := strings.Split(strings.TrimSpace(access.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "target=/page ") || !strings.Contains(lines[1], "target=/_room/quote ") {
		t.Errorf("logged:\n%s\nwant the page and the quote only", access.String())
	}
	if !strings.Contains(log.String(), "msg=banned client=203.0.113.2") || !strings.Contains(log.String(), "permanent=false") {
		t.Errorf("the ban itself must be told of: %s", log.String())
	}
}
