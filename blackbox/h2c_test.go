package blackbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/andreimerlescu/concert/internal/parts"
)

// A real nginx that speaks HTTP/2 without TLS is an origin like any other.
func TestH2COrigin(t *testing.T) {
	t.Parallel()
	nginx, dir, address := parts.Program(t, "nginx"), t.TempDir(), parts.Address(t)
	config := fmt.Sprintf(`daemon off;
master_process off;
pid %[1]s/pid;
error_log %[1]s/error.log;
events { worker_connections 64; }
http {
access_log off;
client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fastcgi;
uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
server { listen %[2]s http2; location / { return 200 "$server_protocol $request_uri $http_x_forwarded_for"; } }
}
`, dir, address)
	path := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(path, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	startProgram(t, address, exec.Command(nginx, "-p", dir, "-e", filepath.Join(dir, "error.log"), "-c", path))
	p := start(t, address, "-upstream", "h2c://"+address)
	if r := raw(t, p, "127.0.0.2", "GET /a//b%2Fc?x=1 HTTP/1.1", "Host: x"); string(r.Body) != "HTTP/2.0 /a//b%2Fc?x=1 127.0.0.2" {
		t.Errorf("%s: %q", r.Line, r.Body)
	}
}
