package blackbox

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/andreimerlescu/concert/internal/parts"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// root writes the authority's certificate to a file, for programs to trust.
func (s *secure) root(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "root.pem")
	if err := os.WriteFile(path, s.ca.PEM(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestTLSWithCurl, which checks the certificate and says what was agreed on.
func TestTLSWithCurl(t *testing.T) {
	t.Parallel()
	path := parts.Program(t, "curl")
	s := startSecure(t, newOrigin(t).Addr())
	for _, how := range [][2]string{{"--http1.1", "1.1 0"}, {"--http2", "2 0"}, {"--tls-max 1.2 --http2", "2 0"}} {
		args := append(strings.Fields(how[0]), "-sS", "--noproxy", "*", "--cacert", s.root(t),
			"--connect-to", siteName+":443:"+s.Addr, "-o", "/dev/null", "-w", "%{http_version} %{ssl_verify_result}", "https://"+siteName+"/")
		out, err := exec.CommandContext(within(t, rawtest.Patience), path, args...).CombinedOutput()
		if err != nil || string(out) != how[1] {
			t.Errorf("curl %s: %q, %v; want %q", how[0], out, err, how[1])
		}
	}
}

// TestTLSWithNginx as a client: a proxy further out that goes on by TLS, and
// checks whom it talks to.
func TestTLSWithNginx(t *testing.T) {
	t.Parallel()
	nginx, dir, address := parts.Program(t, "nginx"), t.TempDir(), parts.Address(t)
	o := newOrigin(t)
	s := startSecure(t, o.Addr())
	runNginx(t, nginx, dir, address, fmt.Sprintf(`server {
    listen %s;
    location / {
        proxy_pass https://%s;
        proxy_http_version 1.1;
        proxy_set_header Connection "";
        proxy_set_header X-Forwarded-For $remote_addr;
        proxy_ssl_verify on;
        proxy_ssl_trusted_certificate %s;
        proxy_ssl_name %s;
        proxy_ssl_server_name on;
        proxy_ssl_protocols TLSv1.2 TLSv1.3;
    }
}`, address, s.Addr, s.root(t), siteName))
	v := newVisitor(t, s.Process)
	v.base = "http://" + address
	for range 3 {
		if a := v.page("/shop"); !a.isOrigin() {
			t.Fatalf("status %d, %.200q", a.status, a.body)
		}
	}
	rs := o.Requests()
	if got := rs[len(rs)-1].Values("X-Forwarded-Proto"); len(got) != 1 || got[0] != "https" {
		t.Errorf("the origin got X-Forwarded-Proto %q", got)
	}
	if f := s.stats(t).TLS; f.Resumed == 0 || f.UnknownNames > 0 {
		t.Errorf("nginx resumed no session, or asked for no name: %+v", f)
	}
}

// TestTLSWithABrowser: a real one waits, and comes in, over HTTP/2.
func TestTLSWithABrowser(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	s := startSecure(t, o.Addr(), "-cap", "1", quick)
	pair, err := os.ReadFile(s.cert)
	if err != nil {
		t.Fatal(err)
	}
	known := sha256.Sum256(leafOf(t, pair).RawSubjectPublicKeyInfo)
	ctx := browser(t,
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("ignore-certificate-errors-spki-list", base64.StdEncoding.EncodeToString(known[:])),
		chromedp.Flag("host-resolver-rules", "MAP "+siteName+" 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"))
	v := s.visitor(t, true)
	held := later(func() answer { return v.page("/hold") })
	rawtest.Until(t, "the room is full", func() bool { return s.stats(t).Occupancy == 1 })
	_, port, _ := strings.Cut(s.Addr, ":")
	if err := chromedp.Do(ctx, chromedp.Navigate("https://"+siteName+":"+port+"/shop"), chromedp.WaitVisible("#position")); err != nil {
		t.Fatal(err)
	}
	o.openAll()
	if err := chromedp.Do(ctx, chromedp.WaitNotPresent("#position")); err != nil {
		t.Fatal(err)
	}
	<-held
	text, err := chromedp.Run(ctx, chromedp.Text("body"))
	if err != nil {
		t.Fatal(err)
	}
	protocol, err := chromedp.Run(ctx, chromedp.Evaluate[string](`performance.getEntriesByType("navigation")[0].nextHopProtocol + " " + isSecureContext`))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text, "GET /shop") || protocol != "h2 true" {
		t.Errorf("the browser shows %q over %s", text, protocol)
	}
}
