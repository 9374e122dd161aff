package blackbox

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/internal/certtest"
	"github.com/andreimerlescu/concert/internal/parts"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// TestTLSServesVisitors over both protocols: the place, its cookie, the way in,
// and what the origin learns of it.
func TestTLSServesVisitors(t *testing.T) {
	t.Parallel()
	for _, h2 := range []bool{false, true} {
		t.Run(fmt.Sprintf("h2=%v", h2), func(t *testing.T) {
			t.Parallel()
			o := newOrigin(t)
			s := startSecure(t, o.Addr(), "-cap", "1", quick, "-hsts", "1h", "-hsts-subdomains")
			c := s.visitor(t, h2)
			held := later(func() answer { return c.page("/hold") })
			rawtest.Until(t, "the room is full", func() bool { return s.stats(t).Occupancy == 1 })
			v := s.visitor(t, h2)
			a := v.page("/shop")
			if !a.isWaitingPage() {
				t.Fatalf("status %d, body %.200q: want the waiting page", a.status, a.body)
			}
			if cookies := a.header.Values("Set-Cookie"); len(cookies) == 0 || !strings.Contains(cookies[0], "Secure") {
				t.Errorf("cookies %q: want them Secure by themselves", cookies)
			}
			if got := a.header.Values("Strict-Transport-Security"); len(got) != 1 || got[0] != "max-age=3600; includeSubDomains" {
				t.Errorf("Strict-Transport-Security %q", got)
			}
			o.openAll()
			if a := <-held; !a.isOrigin() {
				t.Errorf("the page before: status %d", a.status)
			}
			if a = v.comeIn("/shop"); !strings.Contains(strings.Join(a.header.Values("Set-Cookie"), "\n"), "Secure") {
				t.Errorf("the pass is not Secure: %q", a.header.Values("Set-Cookie"))
			}
			rs := o.Requests()
			if got := rs[len(rs)-1].Values("X-Forwarded-Proto"); len(got) != 1 || got[0] != "https" {
				t.Errorf("the origin got X-Forwarded-Proto %q", got)
			}
		})
	}
}

// TestTLSReplacesTheOriginsHSTS: the setting has its say alone.
func TestTLSReplacesTheOriginsHSTS(t *testing.T) {
	t.Parallel()
	o := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Strict-Transport-Security", "max-age=1")
		fmt.Fprint(w, originMark)
	}))
	t.Cleanup(o.Close)
	for flag, want := range map[string]string{"2h": "[max-age=7200]", "0": "[max-age=1]"} {
		s := startSecure(t, strings.TrimPrefix(o.URL, "http://"), "-hsts", flag)
		if got := fmt.Sprint(s.visitor(t, true).page("/").header.Values("Strict-Transport-Security")); got != want {
			t.Errorf("-hsts %s: %s, want %s", flag, got, want)
		}
	}
}

// TestTLSSeesTheProtocol: a connection of its own tells Concert which of the
// two pools an asset belongs to.
func TestTLSSeesTheProtocol(t *testing.T) {
	t.Parallel()
	o := newOrigin(t)
	s := startSecure(t, o.Addr(), "-asset-user-cap-h1", "1", "-asset-user-cap-h2", "3", "-asset-user-wait", "0", "-assets", "/hold/*,/css/*")
	one, two := s.visitor(t, false), s.visitor(t, true)
	one.page("/")
	two.page("/")
	held := []<-chan answer{later(func() answer { return one.page("/hold/a") })}
	for range 3 {
		held = append(held, later(func() answer { return two.page("/hold/a") }))
	}
	rawtest.Until(t, "one asset of HTTP/1.1 and three of HTTP/2 are at the origin", func() bool { return s.stats(t).AssetInFlight == 4 })
	for name, v := range map[string]*visitor{"HTTP/1.1": one, "HTTP/2": two} {
		if a := v.page("/css/b"); a.status != http.StatusTooManyRequests {
			t.Errorf("one more over %s: status %d, want 429", name, a.status)
		}
	}
	o.openAll()
	for _, c := range held {
		if a := <-c; !a.isOrigin() {
			t.Errorf("status %d", a.status)
		}
	}
}

// TestTLSCertificatesAreReadAgain when their files change, by themselves and on
// SIGHUP; a broken one is not taken up, and does not get in the way of others.
func TestTLSCertificatesAreReadAgain(t *testing.T) {
	t.Parallel()
	s := startSecure(t, newOrigin(t).Addr())
	renew := func() string {
		pair := s.ca.Issue(t, certtest.Names(siteName, "127.0.0.1"))
		pair.Write(t, filepath.Dir(s.cert), "site")
		return pair.Leaf.SerialNumber.String()
	}
	next := renew()
	rawtest.Until(t, "the new certificate is shown", func() bool { return s.served(t) == next })
	if got := s.stats(t).TLS.Certificates; len(got) != 1 || got[0].Source != "file" || got[0].NotAfter.Before(time.Now()) {
		t.Errorf("stats %+v", got)
	}
	if err := os.WriteFile(s.key, []byte("half a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	v := s.visitor(t, true)
	v.header.Set("Authorization", "Bearer "+adminToken)
	if a := v.do(http.MethodPost, "/_room/cap", "", `{"cap":7}`); a.status != http.StatusOK {
		t.Errorf("a broken key keeps the cap from being changed: status %d, %s", a.status, a.body)
	}
	if a := v.do(http.MethodPatch, "/_room/settings", "", `{"tls_cert":"/no/such.pem"}`); a.status != http.StatusBadRequest || !strings.Contains(a.body, "/no/such.pem") {
		t.Errorf("a file that is not there: status %d, %s", a.status, a.body)
	}
	if got := s.served(t); got != next {
		t.Error("a broken file is taken up")
	}
}

// TestTLSRedirect: plain HTTP is sent on, with its method, and nothing of the
// site is served by it.
func TestTLSRedirect(t *testing.T) {
	t.Parallel()
	o, plain := newOrigin(t), parts.Address(t)
	s := startSecure(t, o.Addr(), "-tls-http-listen", plain, "-hsts", "1h")
	v := newVisitor(t, s.Process)
	v.base = "http://" + plain
	a := v.page("/a//b?x=1")
	if want := s.URL + "/a//b?x=1"; a.status != http.StatusPermanentRedirect || a.header.Get("Location") != want {
		t.Errorf("%d to %q, want %q", a.status, a.header.Get("Location"), want)
	}
	if got := a.header.Get("Strict-Transport-Security") + a.header.Get("Set-Cookie"); got != "" {
		t.Errorf("said in the clear: %q", got)
	}
	client := &http.Client{Transport: s.transport(t, true)}
	resp, err := client.Post(v.base+"/order", "text/plain", strings.NewReader("item=1"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, _ := io.ReadAll(resp.Body); !strings.Contains(string(body), "POST /order") {
		t.Errorf("a form that came by http: status %d, %.200q", resp.StatusCode, body)
	}
	if got := len(o.Requests()); got != 1 {
		t.Errorf("the origin got %d requests, want the form alone", got)
	}
}

// TestTLSProblemsAreAllReported, by check and at the start, with their remedies.
func TestTLSProblemsAreAllReported(t *testing.T) {
	t.Parallel()
	ca, dir := certtest.New(t), t.TempDir()
	cert, _ := ca.Issue(t, certtest.Names(siteName)).Write(t, dir, "one")
	_, key := ca.Issue(t, certtest.Names(siteName)).Write(t, dir, "two")
	args := []string{
		"-tls-cert", cert, "-tls-key", key, "-tls-domains", "good.test", "-tls-cache", cert,
		"-tls-email", "nobody", "-tls-directory", "ftp://x", "-tls-http-listen", ":8080", "-cap", "0",
		"-tls-eab-id", "customer 1",
	}
	for _, command := range [][]string{{}, {"check"}} {
		status, _, stderr := exit(t, nil, append(command, args...)...)
		if status != 2 {
			t.Errorf("%v: exit status %d, want 2", command, status)
		}
		for _, want := range []string{"does not belong to the certificate", "-tls-cache", "not a directory", "-tls-email", "-tls-directory", "-tls-http-listen", "another port than -listen", "-tls-eab-id", "-cap"} {
			if !strings.Contains(stderr, want) {
				t.Errorf("%v: the report does not say %q:\n%s", command, want, stderr)
			}
		}
	}
	over, overKey := ca.Issue(t, certtest.Names(siteName), certtest.From(time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour))).Write(t, dir, "over")
	status, stdout, stderr := exit(t, nil, "check", "-tls-cert", over, "-tls-key", overKey)
	if status != 0 || !strings.Contains(stdout+stderr, "its time was over") || !strings.Contains(stdout, "for "+siteName+", until ") {
		t.Errorf("a certificate that is over: status %d, %s%s", status, stdout, stderr)
	}
}

// TestTLSKeepsStrangersOut: with a certificate in the cache, nobody is asked
// for it again, and other names end calmly.
func TestTLSKeepsStrangersOut(t *testing.T) {
	t.Parallel()
	ca, cache := certtest.New(t), t.TempDir()
	pair := ca.Issue(t, certtest.Names("example.test"))
	if err := os.WriteFile(filepath.Join(cache, "example.test"), append(pair.Key, pair.Chain...), 0o600); err != nil {
		t.Fatal(err)
	}
	asked := make(chan string, 10)
	authority := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.URL.Path }))
	t.Cleanup(authority.Close)
	p := startNamed(t, "example.test", newOrigin(t).Addr(),
		"-tls-domains", "Example.TEST.", "-tls-cache", cache, "-tls-directory", authority.URL)
	dial := func(name string) error {
		c, err := tls.Dial("tcp", p.Addr, &tls.Config{RootCAs: ca.Pool(), ServerName: name, InsecureSkipVerify: name == ""}) // without a name there is nothing to compare with
		if err == nil {
			c.Close()
		}
		return err
	}
	for range 3 {
		if err := dial("other.test"); err == nil || !strings.Contains(err.Error(), "unrecognized name") {
			t.Errorf("other.test: %v", err)
		}
		if err := dial(""); err == nil {
			t.Error("no name is served")
		}
		if err := dial("EXAMPLE.TEST"); err != nil {
			t.Errorf("a name in capitals: %v", err)
		}
	}
	select {
	case path := <-asked:
		t.Errorf("the authority was asked for %s", path)
	default:
	}
}

// leafOf is the first certificate of a PEM file.
func leafOf(t *testing.T, text []byte) *x509.Certificate {
	t.Helper()
	block, _ := pem.Decode(text)
	if block == nil {
		t.Fatal("no PEM text")
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return leaf
}
