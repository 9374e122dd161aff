//go:build unix

package blackbox

import (
	"os/exec"
	"syscall"
	"testing"

	"github.com/andreimerlescu/concert/internal/parts"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// pageRequest is a visit of a connection's own.
const pageRequest = "GET / HTTP/1.1\r\nHost: site.test\r\nAccept: text/html\r\nConnection: close\r\n\r\n"

// TestSystemdSocketActivate has systemd's own program open the socket, and start
// Concert when the first visitor comes.
func TestSystemdSocketActivate(t *testing.T) {
	t.Parallel()
	const address = "127.0.88.9:18080" // one that nothing is given by chance
	o := newOrigin(t)
	cmd := exec.Command(parts.Program(t, "systemd-socket-activate"), "--listen="+address,
		binary, "-listen", address, "-upstream", "http://"+o.Addr(), "-data-dir", "")
	startProgram(t, address, cmd)
	for range 2 {
		c := rawtest.Dial(t, address)
		c.Send(pageRequest)
		if r := c.ReadResponse("GET"); r.Status() != "200" || r.Err != nil {
			t.Errorf("status %s, %v", r.Status(), r.Err)
		}
		c.Close()
	}
}

// TestRestartRefusesNobody: while systemd holds the socket, who comes between two
// Concerts is served by the second.
func TestRestartRefusesNobody(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	ln, socket := openSocket(t)
	visit := func() *rawtest.Client {
		c := rawtest.Dial(t, ln.Addr().String())
		c.Send(pageRequest)
		return c
	}
	var waiting []*rawtest.Client
	for start := range 3 { // the first, and two restarts
		waiting = append(waiting, visit(), visit())
		cmd := activated(t, ln, socket, o.Addr())
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill() }) // it has ended unless the test failed
		waiting = append(waiting, visit())
		for _, c := range waiting {
			if r := c.ReadResponse("GET"); r.Status() != "200" || r.Err != nil {
				t.Errorf("who came while Concert was restarted: status %s, %v", r.Status(), r.Err)
			}
			c.Close()
		}
		waiting = waiting[:0]
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if start < 2 {
			waiting = append(waiting, visit()) // the ending one's, or the next one's
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("Concert ended with %v", err)
		}
	}
}
