package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/config"
)

const (
	// healthTimeout is less than what those who run health checks commonly wait.
	healthTimeout = 5 * time.Second
	maxHealth     = 4 << 10 // bytes of an answer that are read
)

// runHealth is the subcommand that asks a Concert on this machine whether it is
// alive, for containers without curl and for the installer. It takes the flags
// and variables of the one it asks, and finds the address and the protocol in
// them; "gate" before them asks for off-site rooms.
func runHealth(ctx context.Context, args, environ []string, stdout, stderr io.Writer) int {
	rooms := len(args) > 0 && args[0] == "gate"
	if rooms {
		args = args[1:]
	}
	loaded, status := load(sources(args, environ), stdout, stderr)
	if loaded == nil {
		return status
	}
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	if err := alive(ctx, loaded.Config, rooms); err != nil {
		fmt.Fprintf(stderr, "concert health: %v\n", err)
		return exitFailed
	}
	fmt.Fprintln(stdout, "ok")
	return exitOK
}

// alive asks the listener of the site, or of off-site rooms, for its health.
func alive(ctx context.Context, c *config.Config, rooms bool) error {
	client, url := checker(c, rooms)
	defer client.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxHealth))
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if resp.StatusCode != http.StatusOK || string(text) != "ok" {
		return fmt.Errorf("%s does not say that Concert is alive: status %d", req.URL, resp.StatusCode)
	}
	return nil
}

// checker returns a client that reaches the listener whatever the host in a URL
// is, and the URL to ask for. Certificates are not looked at: an own one may be
// made out to names that this machine cannot resolve, and nothing secret is said.
func checker(c *config.Config, rooms bool) (*http.Client, string) {
	addr, scheme := c.Listen, "http"
	var proxies *clientip.Trust
	tlsConfig := &tls.Config{InsecureSkipVerify: true}
	switch {
	case rooms:
		if addr = c.GateListen; addr == "" {
			addr = gateAddress
		}
	case c.TLS():
		scheme = "https"
		if len(c.TLSDomains) > 0 {
			tlsConfig.ServerName = c.TLSDomains[0]
		}
	}
	if c.ProxyProtocol && !rooms {
		proxies = c.TrustedProxies
	}
	t := &http.Transport{
		TLSClientConfig: tlsConfig,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialFrom(ctx, addr, proxies)
		},
	}
	stay := func(*http.Request, []*http.Request) error { return errors.New("it answered with a redirect") }
	return &http.Client{Transport: t, CheckRedirect: stay}, scheme + "://localhost/_room/healthz"
}

// dialFrom connects. Where this end's address is one of those that must begin
// with a PROXY header, it sends one that speaks for itself.
func dialFrom(ctx context.Context, addr string, proxies *clientip.Trust) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil || proxies == nil {
		return conn, err
	}
	own, err := netip.ParseAddrPort(conn.LocalAddr().String())
	if err != nil || !proxies.Contains(own.Addr().Unmap()) {
		return conn, nil
	}
	if _, err := io.WriteString(conn, "PROXY UNKNOWN\r\n"); err != nil {
		_ = conn.Close() // the write's error is the one to report
		return nil, fmt.Errorf("send the PROXY header: %w", err)
	}
	return conn, nil
}
