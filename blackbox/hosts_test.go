package blackbox

import (
	"net/http"
	"strings"
	"testing"
)

// TestAllowedHosts: a request for a name that the site does not go by never
// reaches the origin, however the name is sent; health checks ask by address.
func TestAllowedHosts(t *testing.T) {
	o, dir := newOrigin(t), dataDir(t)
	p := startIn(t, dir, o.Addr(), "-allowed-hosts", "Shop.test,*.shop.test", "-bypass", "/open")
	for host, want := range map[string]string{
		"shop.test": "200", "WWW.shop.test:8080": "200", "shop.test.": "200",
		"evil.test": "421", "shop.test.evil.test": "421", "127.0.0.1": "421",
	} {
		for _, path := range []string{"/p", "/open"} {
			if got := raw(t, p, "127.0.0.1", "GET "+path+" HTTP/1.1", "Host: "+host).Status(); got != want {
				t.Errorf("%s for %s: %s, want %s", path, host, got, want)
			}
		}
	}
	if got := raw(t, p, "127.0.0.1", "GET http://evil.test/p HTTP/1.1", "Host: shop.test").Status(); got != "421" {
		t.Errorf("an absolute target: %s, want 421", got)
	}
	if got := raw(t, p, "127.0.0.1", "GET http://shop.test/p HTTP/1.1", "Host: shop.test").Status(); got != "200" {
		t.Errorf("an absolute target of the site's own: %s, want 200", got)
	}
	if got := raw(t, p, "127.0.0.1", "GET /_room/healthz HTTP/1.1", "Host: 10.0.0.1").Status(); got != "200" {
		t.Errorf("a health check by address: %s, want 200", got)
	}
	for _, r := range o.Requests() {
		if host := strings.ToLower(r.Value("Host")); !strings.Contains(host, "shop.test") || strings.Contains(host, "evil") {
			t.Errorf("the origin was asked for %q", host)
		}
	}

	admin(t, p, http.MethodPatch, "/_room/settings", `{"allowed_hosts":"evil.test"}`, 200)
	if got := raw(t, p, "127.0.0.1", "GET /p HTTP/1.1", "Host: evil.test").Status(); got != "200" {
		t.Errorf("after the change: %s, want 200", got)
	}
	admin(t, p, http.MethodPatch, "/_room/settings", `{"allowed_hosts":"http://a"}`, 400)
}
