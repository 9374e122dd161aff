package blackbox

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// asks runs concert health.
func asks(t *testing.T, args ...string) (status int, said string) {
	t.Helper()
	status, stdout, stderr := exit(t, nil, append([]string{"health"}, args...)...)
	return status, stdout + stderr
}

// TestHealth: concert health finds in the settings of the one it asks for how
// to reach it, over every protocol that can be in the way.
func TestHealth(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	f := func(name string, args ...string) {
		t.Helper()
		if status, said := asks(t, args...); status != 0 || said != "ok\n" {
			t.Errorf("%s: status %d, %q", name, status, said)
		}
	}
	f("plain", "-listen", start(t, o.Addr()).Addr)
	f("host names", "-listen", start(t, o.Addr(), "-allowed-hosts", siteName).Addr)
	proxied := start(t, o.Addr())
	admin(t, proxied, http.MethodPatch, "/_room/settings", `{"proxy_protocol":true}`, http.StatusOK)
	f("PROXY headers", "-proxy-protocol", "-listen", proxied.Addr)
	f("PROXY headers of others", "-proxy-protocol", "-trusted-proxies", "127.0.0.3",
		"-listen", start(t, o.Addr(), "-proxy-protocol", "-trusted-proxies", "127.0.0.3").Addr)
	s := startSecure(t, o.Addr())
	f("TLS", "-tls-cert", s.cert, "-tls-key", s.key, "-listen", s.Addr)
	rooms := strings.TrimPrefix(startGate(t, "gate").public, "http://")
	f("off-site rooms", "gate", "-gate-listen", rooms)
}

// TestHealthFails where nobody answers, or somebody else does.
func TestHealthFails(t *testing.T) {
	t.Parallel()
	f := func(serve http.HandlerFunc, says string, args ...string) {
		t.Helper()
		s := httptest.NewServer(serve)
		defer s.Close()
		status, said := asks(t, append(args, "-listen", s.Listener.Addr().String())...)
		if status != 1 || !strings.Contains(said, says) {
			t.Errorf("status %d, %q; want 1, and that it says %q", status, said, says)
		}
	}
	f(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("welcome")) }, "does not say that Concert is alive: status 200")
	f(http.NotFound, "status 404")
	f(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusFound) }, "redirect")
	f(http.NotFound, "", "-proxy-protocol") // to who expects none, the header is a bad request: 400, or a reset that overtakes it
	if status, said := asks(t, "-listen", "127.0.0.1:1"); status != 1 || !strings.Contains(said, "refused") {
		t.Errorf("a closed port: status %d, %q", status, said)
	}
	if status, said := asks(t, "-listen", "nonsense"); status != 2 || !strings.Contains(said, "-listen") {
		t.Errorf("wrong settings: status %d, %q", status, said)
	}
}
