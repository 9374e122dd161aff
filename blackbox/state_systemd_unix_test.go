//go:build unix

package blackbox

import (
	"crypto/tls"
	"net"
	"os"
	"os/exec"
	"testing"

	"github.com/andreimerlescu/concert/internal/certtest"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// openSocket listens as systemd does, and returns what it hands over, too.
func openSocket(t *testing.T) (net.Listener, *os.File) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	socket, err := ln.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = socket.Close() })
	return ln, socket
}

// activated is Concert as systemd starts it with a socket. The shell's process
// becomes Concert's, whose number systemd would know.
func activated(t *testing.T, ln net.Listener, socket *os.File, origin string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", `LISTEN_PID=$$ exec "$0" "$@"`,
		binary, "-listen", ln.Addr().String(), "-upstream", "http://"+origin, "-data-dir", "")
	cmd.Env = append(os.Environ(), "LISTEN_FDS=1")
	cmd.ExtraFiles = []*os.File{socket} // number 3
	cmd.Stderr = t.Output()
	return cmd
}

// TestSocketActivation: Concert serves on a socket that was opened before it
// was started, as systemd passes it; who connected meanwhile is served.
func TestSocketActivation(t *testing.T) {
	o := newOrigin(t)
	ln, socket := openSocket(t)
	early := rawtest.Dial(t, ln.Addr().String())
	early.Send("GET / HTTP/1.1\r\nHost: site.test\r\nAccept: text/html\r\n\r\n")

	cmd := activated(t, ln, socket, o.Addr())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	}()
	if r := early.ReadResponse("GET"); r.Status() != "200" || r.Err != nil {
		t.Errorf("who came before Concert: status %s, %v", r.Status(), r.Err)
	}
}

// TestSocketActivationOfTLS: both sockets of a unit are known by their
// addresses, whatever their order, and who came before Concert is served.
func TestSocketActivationOfTLS(t *testing.T) {
	o, ca := newOrigin(t), certtest.New(t)
	cert, key := ca.Issue(t, certtest.Names(siteName)).Write(t, t.TempDir(), "site")
	var addresses []string
	var sockets []*os.File
	for range 2 {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer ln.Close()
		socket, err := ln.(*net.TCPListener).File()
		if err != nil {
			t.Fatal(err)
		}
		defer socket.Close()
		addresses, sockets = append(addresses, ln.Addr().String()), append(sockets, socket)
	}
	secure, plain := addresses[1], addresses[0]
	early := rawtest.Dial(t, plain)
	early.Send("GET /shop HTTP/1.1\r\nHost: " + siteName + "\r\n\r\n")

	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", `LISTEN_PID=$$ exec "$0" "$@"`,
		binary, "-listen", secure, "-tls-http-listen", plain, "-tls-cert", cert, "-tls-key", key, "-upstream", "http://"+o.Addr(), "-data-dir", "")
	cmd.Env = append(os.Environ(), "LISTEN_FDS=2")
	cmd.ExtraFiles = sockets // numbers 3 and 4
	cmd.Stderr = t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	}()
	c, err := tls.Dial("tcp", secure, &tls.Config{ServerName: siteName, RootCAs: ca.Pool()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r := early.ReadResponse("GET")
	if r.Status() != "308" || r.Values("Location")[0] != "https://"+siteName+"/shop" {
		t.Errorf("who came before Concert, by http: status %s to %q, %v", r.Status(), r.Values("Location"), r.Err)
	}
}
