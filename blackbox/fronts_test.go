//go:build unix

package blackbox

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/blackbox/launch"
	"github.com/andreimerlescu/concert/internal/certtest"
	"github.com/andreimerlescu/concert/internal/parts"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// front is a program that terminates TLS in front of Concert, with the
// configuration that deploy/ has for it.
type front struct {
	address string // where it listens
	ca      *certtest.Authority
}

// fronts start each program with its file, its addresses and certificate
// replaced by the test's.
var fronts = map[string]func(t *testing.T, concert string) front{
	"nginx": func(t *testing.T, concert string) front {
		nginx, dir, f := parts.Program(t, "nginx"), t.TempDir(), newFront(t)
		cert, key := f.certificate(t, dir)
		runNginx(t, nginx, dir, f.address, replaced(t, deployed(t, "nginx/concert.conf"),
			"listen 443 ssl", "listen "+f.address+" ssl",
			"/etc/letsencrypt/live/example.com/fullchain.pem", cert,
			"/etc/letsencrypt/live/example.com/privkey.pem", key,
			"http://127.0.0.1:8080", "http://"+concert))
		return f
	},
	"haproxy": func(t *testing.T, concert string) front {
		haproxy, dir, f := parts.Program(t, "haproxy"), t.TempDir(), newFront(t)
		pair := f.ca.Issue(t, certtest.Names("example.com"))
		write(t, dir, "site.pem", string(pair.Chain)+string(pair.Key))
		runHAProxy(t, haproxy, dir, f.address, replaced(t, deployed(t, "haproxy/haproxy.cfg"),
			"bind :443", "bind "+f.address, "maxconn 50000", "maxconn 100",
			"/etc/haproxy/certs/example.com.pem", filepath.Join(dir, "site.pem"),
			"127.0.0.1:8080 check", concert+" check"))
		return f
	},
	"caddy": func(t *testing.T, concert string) front {
		caddy, dir, f := parts.Program(t, "caddy"), t.TempDir(), newFront(t)
		cert, key := f.certificate(t, dir)
		site := "{\n\tadmin off\n\tauto_https disable_redirects\n}\n" + replaced(t, deployed(t, "caddy/Caddyfile"),
			"example.com {", fmt.Sprintf("example.com:%d {\n\tbind 127.0.0.1\n\ttls %s %s", port(t, f.address), cert, key),
			"reverse_proxy 127.0.0.1:8080", "reverse_proxy "+concert)
		write(t, dir, "Caddyfile", site)
		cmd := exec.Command(caddy, "run", "--config", filepath.Join(dir, "Caddyfile"), "--adapter", "caddyfile")
		cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
		startProgram(t, f.address, cmd)
		return f
	},
}

func newFront(t *testing.T) front { return front{parts.Address(t), certtest.New(t)} }

func (f front) certificate(t *testing.T, dir string) (cert, key string) {
	return f.ca.Issue(t, certtest.Names("example.com")).Write(t, dir, "site")
}

// deployed returns a file of deploy/.
func deployed(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// visitor is one who comes to the front from an address of its own, over
// HTTP/2 or HTTP/1.1, and says that it is somebody else.
func (f front) visitor(t *testing.T, p *launch.Process, source string, http2 bool) *visitor {
	t.Helper()
	v := newVisitor(t, p).at("203.0.113.77")
	v.base = fmt.Sprintf("https://example.com:%d", port(t, f.address))
	tr := (&secure{ca: f.ca}).transport(t, http2)
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(source)}}
	tr.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, network, f.address)
	}
	v.client.Transport = tr
	return v
}

// TestFronts: behind each front Concert knows whose request it is, by which
// scheme it came and over which protocol.
func TestFronts(t *testing.T) {
	t.Parallel()
	for name, start := range fronts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOrigin(t)
			p := startBehind(t, o.Addr(), "-assets", "/hold/*", "-ban-paths", "/.env",
				"-asset-user-cap-h1", "1", "-asset-user-cap-h2", "3", "-asset-user-wait", "0")
			f := start(t, p.Addr)
			checkForwarding(t, o, f.visitor(t, p, "127.0.0.8", true))
			checkPools(t, o, f.visitor(t, p, "127.0.0.8", true), f.visitor(t, p, "127.0.0.8", false))

			f.visitor(t, p, "127.0.0.9", true).page("/.env")
			if a := f.visitor(t, p, "127.0.0.9", true).page("/"); a.status != http.StatusTooManyRequests {
				t.Errorf("who asked for a ban path: status %d, want 429", a.status)
			}
			if a := f.visitor(t, p, "127.0.0.8", true).page("/"); !a.isOrigin() {
				t.Errorf("another client of the same front: status %d", a.status)
			}
		})
	}
}

// checkForwarding opens a page, and looks at what its visitor and the site get.
func checkForwarding(t *testing.T, o *origin, v *visitor) {
	t.Helper()
	a := v.page("/shop//a%2Fb?x=1")
	if !a.isOrigin() {
		t.Fatalf("a page: status %d, body %q", a.status, a.body)
	}
	for _, cookie := range a.header.Values("Set-Cookie") {
		if !strings.Contains(cookie, "; Secure") {
			t.Errorf("Set-Cookie %q: want it Secure", cookie)
		}
	}
	rs := o.Requests()
	last := rs[len(rs)-1]
	if last.Line != "GET /shop//a%2Fb?x=1 HTTP/1.1" {
		t.Errorf("the origin got %q", last.Line)
	}
	if got := last.Value("X-Forwarded-Proto"); got != "https" {
		t.Errorf("the origin got X-Forwarded-Proto %q", got)
	}
	// A front appends to what the client said of itself, or drops it.
	if got := last.Values("X-Forwarded-For"); len(got) != 1 || !strings.HasSuffix(got[0], "127.0.0.8, 127.0.0.1") {
		t.Errorf("the origin got X-Forwarded-For %q, want the client's and the front's addresses last", got)
	}
	if host, _, _ := strings.Cut(last.Value("Host"), ":"); host != "example.com" {
		t.Errorf("the origin got Host %q", last.Value("Host"))
	}
}

// checkPools: with room for one asset at once over HTTP/1 and three over
// HTTP/2, the second one gets through over HTTP/2 alone.
func checkPools(t *testing.T, o *origin, over2, over1 *visitor) {
	t.Helper()
	over2.page("/")
	over1.page("/")
	before := len(o.Requests())
	var assets []<-chan answer
	for i, v := range []*visitor{over2, over2, over1} {
		assets = append(assets, later(func() answer { return v.page("/hold/a.css") }))
		rawtest.Until(t, "the asset is asked for", func() bool { return len(o.Requests()) == before+i+1 })
	}
	if a := over1.page("/hold/b.css"); a.status != http.StatusTooManyRequests {
		t.Errorf("a second asset at once over HTTP/1.1: status %d, want 429", a.status)
	}
	for range assets {
		o.letGo()
	}
	for i, asset := range assets {
		if a := <-asset; !a.isOrigin() {
			t.Errorf("asset %d: status %d", i, a.status)
		}
	}
}

// TestStreamsThroughFronts: each event is read before the next is sent, and a
// WebSocket echoes. The stream begins with an empty comment, because nginx keeps
// the header back from HTTP/2 clients until something follows it.
func TestStreamsThroughFronts(t *testing.T) {
	t.Parallel()
	for name, start := range fronts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStreamer(t)
			p := startBehind(t, strings.TrimPrefix(s.URL, "http://"), "-stream-paths", "/ws,/events")
			f := start(t, p.Addr)
			v := f.visitor(t, p, "127.0.0.8", true)
			v.page("/")
			if proto := checkEvents(t, s, v, "/events?hello=:%0A"); proto != "HTTP/2.0" {
				t.Errorf("the front speaks %s", proto)
			}

			v = f.visitor(t, p, "127.0.0.8", false)
			v.page("/")
			v.checkEcho("/ws")
		})
	}
}

// startBehind runs Concert as the files of deploy/ say that it should be.
func startBehind(t *testing.T, origin string, args ...string) *launch.Process {
	t.Helper()
	return start(t, origin, append([]string{"-client-proto-header", "X-Client-Proto", "-secure-cookie"}, args...)...)
}

// TestNginxFileIsTheREADMEs: but for its comments.
func TestNginxFileIsTheREADMEs(t *testing.T) {
	var bare []string
	for line := range strings.Lines(deployed(t, "nginx/concert.conf")) {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			bare = append(bare, line)
		}
	}
	fields := strings.Fields(strings.Join(bare, ""))
	if got, want := strings.Join(fields, " "), strings.Join(strings.Fields(readmeBlock(t, "nginx")), " "); got != want {
		t.Errorf("deploy/nginx/concert.conf says\n%s\nand the README\n%s", got, want)
	}
}
