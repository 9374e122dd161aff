//go:build unix

package blackbox

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/internal/parts"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// balancer is the address that balancers under test come from: a trusted one.
const balancer = "127.0.0.3"

// startHAProxy runs a real HAProxy in TCP mode in front of Concert.
func startHAProxy(t *testing.T, concert, send string) string {
	t.Helper()
	haproxy, dir, address := parts.Program(t, "haproxy"), t.TempDir(), parts.Address(t)
	runHAProxy(t, haproxy, dir, address, fmt.Sprintf(`global
	maxconn 100
defaults
	mode tcp
	timeout connect 5s
	timeout client 30s
	timeout server 30s
frontend visitors
	bind %s
	default_backend concert
backend concert
	server concert %s source %s %s check check-send-proxy inter 200ms
`, address, concert, balancer, send))
	return address
}

// startNginxStream runs a real nginx that passes TCP on.
func startNginxStream(t *testing.T, concert string) string {
	t.Helper()
	const module = "/usr/lib/nginx/modules/ngx_stream_module.so"
	nginx, dir, address := parts.Program(t, "nginx"), t.TempDir(), parts.Address(t)
	if _, err := os.Stat(module); err != nil {
		parts.Missing(t, "nginx's stream module")
	}
	runNginxWith(t, nginx, dir, address, "load_module "+module+";", fmt.Sprintf(
		"stream { server { listen %s; proxy_pass %s; proxy_protocol on; proxy_bind %s; } }", address, concert, balancer))
	return address
}

// ask sends a request to a balancer, from an address, and returns the answer.
func ask(t *testing.T, source, address, path string) rawtest.Response {
	t.Helper()
	c := rawtest.DialFrom(t, source, address)
	defer c.Close()
	c.Send("GET " + path + " HTTP/1.1\r\nHost: site.test\r\nX-Forwarded-For: 203.0.113.77\r\nConnection: close\r\n\r\n")
	return c.ReadResponse("GET")
}

// TestProxyProtocol: behind a real balancer every client has its own address,
// also when another process has taken the socket over.
func TestProxyProtocol(t *testing.T) {
	t.Parallel()
	for name, front := range map[string]func(t *testing.T, concert string) string{
		"haproxy v1":   func(t *testing.T, concert string) string { return startHAProxy(t, concert, "send-proxy") },
		"haproxy v2":   func(t *testing.T, concert string) string { return startHAProxy(t, concert, "send-proxy-v2") },
		"nginx stream": startNginxStream,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOrigin(t)
			p := start(t, o.Addr(), "-proxy-protocol", "-trusted-proxies", balancer, "-ban-paths", "/.env")
			address := front(t, p.Addr)
			rawtest.Until(t, "the balancer passes requests on", func() bool {
				c := rawtest.DialFrom(t, "127.0.0.8", address)
				defer c.Close()
				text := ""
				if c.TrySend("GET / HTTP/1.1\r\nHost: site.test\r\nX-Forwarded-For: 203.0.113.77\r\nConnection: close\r\n\r\n") == nil {
					text, _ = c.ReadAll()
				}
				return strings.Contains(text, originMark)
			})
			rs := o.Requests()
			if got := rs[len(rs)-1].Values("X-Forwarded-For"); len(got) != 1 || got[0] != "127.0.0.8" {
				t.Errorf("the origin got X-Forwarded-For %q, want the client's address alone", got)
			}
			if got := ask(t, "127.0.0.9", address, "/.env"); got.Status() != "429" {
				t.Errorf("a ban path: %s", got.Line)
			}
			takeOver(t, p)
			if got := ask(t, "127.0.0.9", address, "/"); got.Status() != "429" {
				t.Errorf("whom the balancer named is not the one who is banned: %s", got.Line)
			}
			if got := ask(t, "127.0.0.8", address, "/"); got.Status() != "200" {
				t.Errorf("another client of the balancer: %s", got.Line)
			}
			if c := connectionsOf(t, p); c.Refused["proxy-header"]+c.Refused["proxy-timeout"] != 0 {
				t.Errorf("refused %v: the balancer's checks are in order", c.Refused)
			}
		})
	}
}

// TestProxyProtocolOfOthers: who is not trusted cannot choose an address, and
// who is has to name one.
func TestProxyProtocolOfOthers(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	p := start(t, o.Addr(), "-proxy-protocol", "-trusted-proxies", balancer, "-read-header-timeout", "1s")
	const header, request = "PROXY TCP4 203.0.113.9 192.0.2.1 4711 443\r\n", "GET / HTTP/1.1\r\nHost: site.test\r\nConnection: close\r\n\r\n"
	from := func(source, text string) string {
		t.Helper()
		c := rawtest.DialFrom(t, source, p.Addr)
		defer c.Close()
		_ = c.TrySend(text) // it may be closed already
		all, _ := c.ReadAll()
		return all
	}
	if got := from(balancer, header+request); !strings.Contains(got, originMark) {
		t.Errorf("the balancer's: %q", got)
	}
	if got := from("127.0.0.5", header+request); !strings.HasPrefix(got, "HTTP/1.1 400") {
		t.Errorf("a stranger's header: %q, want 400", got)
	}
	if got := from("127.0.0.5", request); !strings.Contains(got, originMark) {
		t.Errorf("a stranger: %q", got)
	}
	if got := from(balancer, request); got != "" {
		t.Errorf("the balancer without a header: %q, want nothing", got)
	}
	if got := from(balancer, "PROXY TCP4 203"); got != "" {
		t.Errorf("a header that does not come: %q, want nothing", got)
	}
	if got := from(balancer, ""); got != "" {
		t.Errorf("no header at all: %q, want nothing", got)
	}
	if c := connectionsOf(t, p); c.Refused["proxy-header"] != 1 || c.Refused["proxy-timeout"] != 2 {
		t.Errorf("refused %v, want 1 malformed and 2 late", c.Refused)
	}
	rs := o.Requests()
	if got := rs[0].Values("X-Forwarded-For"); len(got) != 1 || got[0] != "203.0.113.9" {
		t.Errorf("the origin got X-Forwarded-For %q", got)
	}
}

// TestProxyProtocolBeneathTLS: the header comes before the handshake.
func TestProxyProtocolBeneathTLS(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	s := startSecure(t, o.Addr(), "-proxy-protocol", "-trusted-proxies", balancer)
	address := startHAProxy(t, s.Addr, "send-proxy-v2")
	tr := s.transport(t, true)
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP("127.0.0.8")}}
	tr.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, network, address)
	}
	rawtest.Until(t, "the balancer passes requests on", func() bool {
		resp, err := (&http.Client{Transport: tr, Timeout: rawtest.Patience}).Get(s.URL + "/")
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK && resp.ProtoMajor == 2
	})
	if got := o.Requests()[0]; got.Value("X-Forwarded-For") != "127.0.0.8" || got.Value("X-Forwarded-Proto") != "https" {
		t.Errorf("the origin was told %q", got.Fields)
	}
}
