package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"
	"syscall"

	"github.com/andreimerlescu/concert/app"
	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/handover"
)

// listen opens every socket that the configuration names, or takes them over.
// The error joins what is wrong, a line each.
func listen(p *handover.Process, c *config.Config) (app.Sockets, error) {
	var on app.Sockets
	var errs []error
	open := func(at *net.Listener, flag, addr string) {
		ln, err := p.Listen("tcp", addr)
		if err != nil {
			errs = append(errs, explainListen(flag, addr, err))
			return
		}
		*at = ln
	}
	open(&on.Site, "-listen", c.Listen)
	if c.TLSHTTPListen != "" { // certificates may come while Concert runs
		open(&on.Redirect, "-tls-http-listen", c.TLSHTTPListen)
	}
	if c.Portal() {
		open(&on.Portal, "-portal-listen", c.PortalListen)
	}
	if c.HTTP3 && on.Site != nil {
		// A predecessor leaves the port when it is done with it.
		var err error
		if on.QUIC, err = net.ListenPacket("udp", on.Site.Addr().String()); err != nil && !p.HasPredecessor() {
			errs = append(errs, explainListen("-http3", on.Site.Addr().String()+" over UDP", err))
		}
	}
	errs = append(errs, listenGate(&on, p.Listen, c))
	return on, errors.Join(errs...)
}

// listenGate opens the sockets of off-site rooms.
func listenGate(on *app.Sockets, listen func(network, addr string) (net.Listener, error), c *config.Config) error {
	var errs []error
	for _, s := range []struct {
		at         *net.Listener
		flag, addr string
	}{{&on.Gate, "-gate-listen", c.GateListen}, {&on.GateAdmin, "-gate-admin-listen", c.GateAdminListen}} {
		if s.addr == "" {
			continue
		}
		ln, err := listen("tcp", s.addr)
		if err != nil {
			errs = append(errs, explainListen(s.flag, s.addr, err))
			continue
		}
		*s.at = ln
	}
	return errors.Join(errs...)
}

// explainListen says what to do about an address that cannot be listened on.
func explainListen(flag, addr string, err error) error {
	fix := "choose another with " + flag
	if flag == "-portal-listen" {
		fix += `, or turn the portal off with -portal-listen ""`
	}
	switch {
	case errors.Is(err, fs.ErrPermission) && isLow(addr):
		fix = fmt.Sprintf("ports below %d take a right: sudo setcap cap_net_bind_service=+ep %s, or with systemd AmbientCapabilities=CAP_NET_BIND_SERVICE or a socket unit", firstFree, executable())
	case errors.Is(err, syscall.EADDRINUSE):
		fix = "is another program using the port? " + fix
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		fix = "this machine has no such address; " + fix
	}
	return fmt.Errorf("%s %s: %w (%s)", flag, addr, err, fix)
}

// firstFree is the first port that takes no right.
const firstFree = 1024

func isLow(addr string) bool {
	_, text, _ := net.SplitHostPort(addr)
	port, err := strconv.Atoi(text)
	return err == nil && port < firstFree
}

// executable is the path of this program, as far as that is known.
func executable() string {
	path, err := os.Executable()
	if err != nil {
		return "concert"
	}
	return path
}
