package blackbox

import (
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/internal/rawtest"
)

// TestNoSpellingLoosensARule asks a full room for paths that could be taken
// for those of a looser tier. None may reach the origin. Invariant 6.
func TestNoSpellingLoosensARule(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "1", quick, "-assets", "/css/*", "-asset-public", "/pub/*",
		"-bypass", "/favicon.ico,/.well-known/acme-challenge/*")
	o.fill(t, p, 1)
	queued := []string{
		// not path
		"/index.php?/favicon.ico", "/index.php%3f/favicon.ico", "/index.php#/favicon.ico",
		// must not over-match
		"/cssx/a", "/css", "/pubx", "/.well-known/acme-challenge-old/x", "/favicon.icon", "/x/favicon.ico",
		// parameters, trailing marks, backslashes, NUL
		"/favicon.ico;x=1", "/favicon.ico.", "/favicon.ico%00", "/favicon.ico%20", `/favicon.ico\x`, "/favicon.ico%5cx", "/favicon.ico/",
		// two readings
		"/pub%2Fa.png", "/pub/../checkout", "/pub/%2e%2e/checkout", "/pub/..%2fcheckout", "/pub/..;/checkout",
		`/pub/..\checkout`, "/pub/%2e%2e%5ccheckout", "/pub/a/../../checkout", "/.well-known/acme-challenge/../../admin",
		"/pub/..%00/checkout", "//pub/../checkout", "/checkout/../pub/../checkout",
	}
	for _, path := range queued {
		r := raw(t, p, "127.0.0.1", "GET "+path+" HTTP/1.1", "Host: site.test")
		if s := r.Status(); s != "429" && s != "400" && s != "403" {
			t.Errorf("%s: status %s, body %q; want to be queued or refused", path, r.Status(), r.Body)
		}
	}
	if n := len(o.Requests()); n != 1 {
		t.Errorf("invariant 6: reached the origin past the cap: %q", o.lines()[1:])
	}
	// The clean forms do what they are for.
	for path, want := range map[string]string{"/favicon.ico": "200", "/pub/a.png": "200", "/css/a.css": "403",
		"/%63ss/a.css": "403", "/.well-known/acme-challenge/x": "200"} {
		if r := raw(t, p, "127.0.0.1", "GET "+path+" HTTP/1.1", "Host: site.test"); r.Status() != want {
			t.Errorf("%s: status %s, want %s", path, r.Status(), want)
		}
	}
}

// TestPathsNamedInHeaders: only the request line is classified.
func TestPathsNamedInHeaders(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "1", quick)
	o.fill(t, p, 1)
	for _, source := range []string{"127.0.0.1", "127.0.0.2"} {
		r := raw(t, p, source, "GET /index.php HTTP/1.1", "Host: site.test", "X-Forwarded-Uri: /favicon.ico",
			"X-Original-URL: /favicon.ico", "X-Rewrite-URL: /favicon.ico")
		if r.Status() != "429" {
			t.Errorf("from %s: status %s, want 429", source, r.Status())
		}
	}
}

func TestReservedPaths(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "5")
	for _, path := range []string{
		"/queue/status", "/_room/healthz", "/_room/stats", "/_room/cap", "/_room/unknown", "/_room", "/_room/",
		"//_room/stats", "/_room/./stats", "/x/../_room/stats", "/%5froom/stats", "/_room%2fstats", `/_room\stats`,
		"/queue//status", "/queue/status;x=1",
	} {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PURGE"} {
			r := raw(t, p, "127.0.0.1", method+" "+path+" HTTP/1.1", "Host: site.test", "Content-Length: 0")
			if strings.Contains(string(r.Body), originMark) {
				t.Errorf("%s %s was answered by the origin", method, path)
			}
		}
	}
	if n := len(o.Requests()); n != 0 {
		t.Errorf("reached the origin: %q", o.lines())
	}
}

// TestPathReachesOriginAsSent: no redirect, no cleaning, no decoding.
// Invariant 6.
func TestPathReachesOriginAsSent(t *testing.T) {
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "5")
	targets := []string{
		"/a//b?x=1", "/api/exchanges/%2F/amq.direct", "/r/https%3A%2F%2Fexample.com", "/dir", "/dir/", "/a/../b", "/./a",
		"/%61", "/%e2%82%ac", "/a;b=c", "/a?x=%zz", "/a?", "/?a;b=1", "/favicon.ico;x=1", "/a%20b", "/'()!*~",
	}
	for _, target := range targets {
		c := rawtest.Dial(t, p.Addr)
		c.Send("POST " + target + " HTTP/1.1\r\nHost: site.test\r\nContent-Length: 5\r\n\r\nhello")
		if r := c.ReadResponse("POST"); r.Status() != "200" {
			t.Errorf("%s: status %s, header %q", target, r.Status(), r.Fields)
			continue
		}
		rs := o.Requests()
		if last := rs[len(rs)-1]; last.Line != "POST "+target+" HTTP/1.1" || string(last.Body) != "hello" {
			t.Errorf("invariant 6: %s: the origin got %q with body %q", target, last.Line, last.Body)
		}
	}
}
