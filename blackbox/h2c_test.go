package blackbox

import (
	"testing"

	"github.com/andreimerlescu/concert/internal/parts"
)

// A real nginx that speaks HTTP/2 without TLS is an origin like any other.
func TestH2COrigin(t *testing.T) {
	t.Parallel()
	nginx, dir, address := parts.Program(t, "nginx"), t.TempDir(), parts.Address(t)
	runNginx(t, nginx, dir, address,
		"server { listen "+address+` http2; location / { return 200 "$server_protocol $request_uri $http_x_forwarded_for"; } }`)
	p := start(t, address, "-upstream", "h2c://"+address)
	if r := raw(t, p, "127.0.0.2", "GET /a//b%2Fc?x=1 HTTP/1.1", "Host: x"); string(r.Body) != "HTTP/2.0 /a//b%2Fc?x=1 127.0.0.2" {
		t.Errorf("%s: %q", r.Line, r.Body)
	}
}
