//go:build unix

package blackbox

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"github.com/andreimerlescu/concert/internal/parts"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// overQUIC comes over HTTP/3, from a loopback address.
func (s *secure) overQUIC(t *testing.T, source string) *http.Client {
	t.Helper()
	tr := &http3.Transport{
		TLSClientConfig: &tls.Config{RootCAs: s.ca.Pool()},
		Dial: func(ctx context.Context, addr string, cfg *tls.Config, qc *quic.Config) (*quic.Conn, error) {
			udp, err := net.ListenPacket("udp", source+":0")
			if err != nil {
				return nil, err
			}
			to, err := net.ResolveUDPAddr("udp", addr)
			if err != nil {
				return nil, err
			}
			c, err := quic.Dial(ctx, udp, to, cfg, qc)
			if err != nil {
				_ = udp.Close()
				return nil, err
			}
			context.AfterFunc(c.Context(), func() { _ = udp.Close() })
			return c, nil
		},
	}
	t.Cleanup(func() { _ = tr.Close() })
	return &http.Client{Transport: tr, Timeout: rawtest.Patience}
}

// fetch returns the protocol, the status and the body of a page.
func (s *secure) fetch(c *http.Client, path string) (proto string, status int, body string, err error) {
	resp, err := c.Get(s.URL + path)
	if err != nil {
		return "", 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.Proto, resp.StatusCode, string(text), err
}

// TestHTTP3: browsers are told of it, and every guard holds.
func TestHTTP3(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	p := startSecure(t, o.Addr(), "-http3", "-ban-paths", "/.env", "-assets", "/css/*", "-max-conns-per-client", "2", "-cap", "1", quick)
	_, port, _ := net.SplitHostPort(p.Addr)
	for _, h2 := range []bool{true, false} {
		resp, err := (&http.Client{Transport: p.transport(t, h2)}).Get(p.URL + "/_room/healthz")
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if got := resp.Header.Values("Alt-Svc"); len(got) != 1 || got[0] != `h3=":`+port+`"; ma=86400` {
			t.Errorf("%s: Alt-Svc %q", resp.Proto, got)
		}
	}
	v := p.overQUIC(t, "127.0.0.5")
	proto, status, body, err := p.fetch(v, "/a//b%2Fc?x=1")
	if err != nil || proto != "HTTP/3.0" || status != 200 || !strings.Contains(body, "GET /a//b%2Fc?x=1 HTTP/1.1") {
		t.Fatalf("%s %d %q %v", proto, status, body, err)
	}
	rs := o.Requests()
	last := rs[len(rs)-1]
	if last.Value("X-Forwarded-For") != "127.0.0.5" || last.Value("X-Forwarded-Proto") != "https" {
		t.Errorf("the origin was told %q", last.Fields)
	}
	if _, status, _, _ = p.fetch(v, "/css/a.css"); status != 403 {
		t.Errorf("an asset without a pass: %d", status)
	}
	held := make(chan string, 1)
	go func() { // ends when the origin lets go
		_, status, body, err := p.fetch(p.overQUIC(t, "127.0.0.6"), "/hold")
		held <- fmt.Sprint(status, body, err)
	}()
	rawtest.Until(t, "the room is full", func() bool { return p.stats(t).Occupancy == 1 })
	if _, status, body, _ = p.fetch(v, "/"); !strings.Contains(body, "queued") {
		t.Errorf("a full room: %d %q", status, body)
	}
	o.letGo()
	if got := <-held; !strings.HasPrefix(got, "200") {
		t.Errorf("who was inside: %s", got)
	}
	if _, status, _, _ = p.fetch(v, "/.env"); status != 429 {
		t.Errorf("a ban path: %d", status)
	}
	if _, status, _, _ = p.fetch(p.overQUIC(t, "127.0.0.5"), "/"); status != 429 {
		t.Errorf("the banned client on another connection: %d", status)
	}
	if proto, _, _, err = p.fetch(p.overQUIC(t, "127.0.0.5"), "/"); err == nil {
		t.Errorf("a third connection of one client, by %s", proto)
	}
	var c connections
	if p.figures(t, &c); c.Refused["max-conns-per-client"] == 0 {
		t.Errorf("refused %v", c.Refused)
	}
}

// TestHTTP3HandOver: a request under way is finished by the old process, and
// the new one takes the port.
func TestHTTP3HandOver(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	p := startSecure(t, o.Addr(), "-http3", "-cap", "5")
	held := make(chan string, 1)
	v := p.overQUIC(t, "127.0.0.5")
	go func() { // ends when the origin lets go
		_, status, _, err := p.fetch(v, "/hold")
		held <- fmt.Sprint(status, err)
	}()
	rawtest.Until(t, "it is at the origin", func() bool { return len(o.Requests()) == 1 })
	old := serving(t, p.Process)
	takeOver(t, p.Process)
	o.letGo()
	if got := <-held; got != "200 <nil>" {
		t.Errorf("under way at the hand-over: %s", got)
	}
	// Another connection is the new process's, as soon as it has the port.
	rawtest.Until(t, "HTTP/3 is served again", func() bool {
		c := p.overQUIC(t, "127.0.0.5")
		c.Timeout = rawtest.Patience / 6 // of an old process's connection nothing comes
		proto, status, _, err := p.fetch(c, "/")
		c.CloseIdleConnections()
		return err == nil && proto == "HTTP/3.0" && status == 200
	})
	if now := serving(t, p.Process); now == old {
		t.Error("the old process still serves")
	}
}

// TestHTTP3Stop: what is under way is finished, an idle connection does not
// delay the stop, and the exit is clean.
func TestHTTP3Stop(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	p := startSecure(t, o.Addr(), "-http3", "-cap", "5")
	if _, status, _, err := p.fetch(p.overQUIC(t, "127.0.0.6"), "/"); err != nil || status != 200 {
		t.Fatal(status, err)
	}
	held := make(chan string, 1)
	v := p.overQUIC(t, "127.0.0.5")
	go func() { // ends when the origin lets go
		_, status, _, err := p.fetch(v, "/hold")
		held <- fmt.Sprint(status, err)
	}()
	rawtest.Until(t, "it is at the origin", func() bool { return len(o.Requests()) == 2 })
	stopped := make(chan error, 1)
	go func() { stopped <- p.Stop(context.Background()) }() // ends with the process
	rawtest.Until(t, "it drains", func() bool { return strings.Contains(p.Stderr(), "msg=draining") })
	o.letGo()
	if got := <-held; got != "200 <nil>" {
		t.Errorf("under way at the stop: %s", got)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if strings.Contains(p.Stderr(), "were cut") || strings.Contains(p.Stderr(), "connections cut") {
		t.Errorf("connections were cut:\n%s", p.Stderr())
	}
}

// TestHTTP3NeedsCertificates says what to do.
func TestHTTP3NeedsCertificates(t *testing.T) {
	t.Parallel()
	status, _, problems := exit(t, nil, "-http3")
	if status != 2 || !strings.Contains(problems, "-http3") || !strings.Contains(problems, "-tls-cert") {
		t.Errorf("status %d: %s", status, problems)
	}
}

// TestHTTP3PortInUse: the port is named, with what to do.
func TestHTTP3PortInUse(t *testing.T) {
	t.Parallel()
	// A port that nobody has over TCP: a test beside this one might, were it one
	// of those that the system hands out.
	udp, err := net.ListenPacket("udp", parts.Address(t))
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	s := startSecure(t, newOrigin(t).Addr()) // for its certificate
	status, _, problems := exit(t, nil, "-http3", "-listen", udp.LocalAddr().String(), "-tls-cert", s.cert, "-tls-key", s.key, "-data-dir", "")
	if status != 1 || !strings.Contains(problems, "over UDP") || !strings.Contains(problems, "another program") {
		t.Errorf("status %d: %s", status, problems)
	}
}

// TestHTTP3UpgradeUnderLoad: clients that come over TCP when they cannot come
// over QUIC, as browsers do, notice nothing of a process that replaces another,
// and find QUIC again.
func TestHTTP3UpgradeUnderLoad(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	p := startSecure(t, o.Addr(), "-http3", "-cap", "50")
	stop := make(chan struct{})
	var crowd sync.WaitGroup
	var overUDP, overTCP, failed atomic.Int64
	for range 4 {
		crowd.Go(func() { // ends with stop
			quick, steady := p.overQUIC(t, "127.0.0.5"), &http.Client{Transport: p.transport(t, true), Timeout: rawtest.Patience}
			quick.Timeout = rawtest.Patience / 6
			pace := time.NewTicker(5 * time.Millisecond)
			defer pace.Stop()
			for {
				select {
				case <-stop:
					return
				case <-pace.C:
				}
				if _, status, _, err := p.fetch(quick, "/"); err == nil && status == 200 {
					overUDP.Add(1)
					continue
				} else if err != nil && strings.Contains(err.Error(), "redirects") {
					t.Errorf("sent in circles: %v", err)
				}
				if _, status, _, err := p.fetch(steady, "/"); err != nil || status != 200 {
					failed.Add(1)
					t.Errorf("over TCP: %d, %v", status, err)
				}
				overTCP.Add(1)
			}
		})
	}
	rawtest.Until(t, "they come over UDP", func() bool { return overUDP.Load() > 50 })
	takeOver(t, p.Process)
	before := overUDP.Load()
	rawtest.Until(t, "they come over UDP again", func() bool { return overUDP.Load() > before+50 })
	close(stop)
	crowd.Wait()
	t.Logf("%d over UDP, %d over TCP meanwhile, %d failed", overUDP.Load(), overTCP.Load(), failed.Load())
}
