package main

import (
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestListenErrorsSayWhatToDo: each way of not getting a port has its remedy.
func TestListenErrorsSayWhatToDo(t *testing.T) {
	f := func(flag, addr string, errno syscall.Errno, says ...string) {
		t.Helper()
		err := explainListen(flag, addr, &net.OpError{Op: "listen", Net: "tcp", Err: os.NewSyscallError("bind", errno)})
		for _, want := range append(says, flag+" "+addr) {
			if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v\nwant a line that says %q", err, want)
			}
		}
	}
	f("-listen", ":443", syscall.EACCES, "setcap cap_net_bind_service=+ep", "AmbientCapabilities", "socket unit")
	f("-tls-http-listen", ":80", syscall.EACCES, "setcap")
	f("-listen", ":8080", syscall.EACCES, "choose another with -listen")
	f("-listen", ":443", syscall.EADDRINUSE, "is another program using the port?")
	f("-listen", "192.0.2.1:80", syscall.EADDRNOTAVAIL, "no such address")
	f("-portal-listen", ":8081", syscall.EADDRINUSE, `-portal-listen ""`)
}
