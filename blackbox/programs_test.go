package blackbox

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/andreimerlescu/concert/internal/rawtest"
)

// startProgram runs a real server until the test ends and waits for its port.
func startProgram(t *testing.T, address string, cmd *exec.Cmd) {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		log.Close()
		if text, err := os.ReadFile(log.Name()); err == nil && t.Failed() {
			t.Logf("log of %s:\n%s", cmd.Path, text)
		}
	})
	rawtest.Until(t, cmd.Path+" listens", func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
}

// runNginx runs nginx with the servers of site, until the test ends.
func runNginx(t *testing.T, nginx, dir, address, site string) {
	t.Helper()
	runNginxWith(t, nginx, dir, address, "", fmt.Sprintf(`http {
access_log off;
client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fastcgi;
uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
%[2]s
}`, dir, site))
}

// runNginxWith runs nginx with a whole block, such as http, and what must stand
// before everything else.
func runNginxWith(t *testing.T, nginx, dir, address, first, block string) {
	t.Helper()
	write(t, dir, "nginx.conf", fmt.Sprintf(`%[2]s
daemon off;
master_process off;
pid %[1]s/pid;
error_log %[1]s/error.log;
events { worker_connections 256; }
%[3]s
`, dir, first, block))
	startProgram(t, address, exec.Command(nginx, "-p", dir, "-e", filepath.Join(dir, "error.log"), "-c", filepath.Join(dir, "nginx.conf")))
}

// runHAProxy runs HAProxy with a configuration, until the test ends.
func runHAProxy(t *testing.T, haproxy, dir, address, config string) {
	t.Helper()
	write(t, dir, "haproxy.cfg", config)
	startProgram(t, address, exec.Command(haproxy, "-db", "-f", filepath.Join(dir, "haproxy.cfg")))
}
