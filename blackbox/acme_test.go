package blackbox

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	wire "encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/andreimerlescu/concert/blackbox/launch"
	"github.com/andreimerlescu/concert/internal/certtest"
	"github.com/andreimerlescu/concert/internal/parts"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// eabKey is what the authority gave its one customer.
const eabKey = "zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W"

// buildPebble compiles the ACME server of the tools module, once.
var buildPebble = sync.OnceValues(func() (string, error) {
	path := filepath.Join(filepath.Dir(binary), "pebble")
	cmd := exec.Command("go", "build", "-buildvcs=false", "-modfile=../tools/go.mod", "-o", path, "github.com/letsencrypt/pebble/v2/cmd/pebble")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build pebble: %w\n%s", err, out)
	}
	return path, nil
})

// pebble is a certificate authority of the test's own, as Let's Encrypt has for
// tests.
type pebble struct {
	directory string // its URL
	ca        string // file with the root that its own address is known by
	manage    string // URL of its management
	client    *http.Client
}

// startPebble runs an authority that certifies for so long, and asks for proofs
// on the ports of the two addresses.
func startPebble(t *testing.T, validity time.Duration, tlsAddress, httpAddress string) *pebble {
	t.Helper()
	path, err := buildPebble()
	if err != nil {
		t.Fatal(err)
	}
	dir, ca := t.TempDir(), certtest.New(t)
	cert, key := ca.Issue(t, certtest.Names("127.0.0.1")).Write(t, dir, "pebble")
	listen, manage := parts.Address(t), parts.Address(t)
	config, err := json.Marshal(map[string]any{"pebble": map[string]any{
		"listenAddress": listen, "managementListenAddress": manage,
		"certificate": cert, "privateKey": key, "tlsPort": port(t, tlsAddress), "httpPort": port(t, httpAddress),
		"externalAccountBindingRequired": true, "externalAccountMACKeys": map[string]string{"customer-1": eabKey},
		"keyAlgorithm": "ecdsa", "retryAfter": map[string]int{"authz": 1, "order": 1},
		"profiles": map[string]any{"default": map[string]any{"description": "for tests", "validityPeriod": int(validity.Seconds())}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	file, root := filepath.Join(dir, "config.json"), filepath.Join(dir, "root.pem")
	for path, content := range map[string][]byte{file: config, root: ca.PEM()} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(path, "-config", file, "-dnsserver", serveNames(t))
	cmd.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1", "PEBBLE_WFE_NONCEREJECT=20") // refuses some nonces, as it may
	startProgram(t, listen, cmd)
	return &pebble{
		directory: "https://" + listen + "/dir", ca: root, manage: "https://" + manage,
		client: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: ca.Pool()}, DisableKeepAlives: true}},
	}
}

func port(t *testing.T, address string) int {
	t.Helper()
	_, text, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// roots are what the authority's certificates lead to.
func (p *pebble) roots(t *testing.T) *x509.CertPool {
	t.Helper()
	resp, err := p.client.Get(p.manage + "/roots/0")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		t.Fatalf("no root in %q", text)
	}
	return pool
}

// serveNames answers every question of the DNS with 127.0.0.1, until the test
// ends, and returns where: over TCP, which is what pebble asks by.
func serveNames(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	go func() { // ends with the socket
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() { // ends with the connection
				defer c.Close()
				for answerName(c) == nil {
				}
			}()
		}
	}()
	return ln.Addr().String()
}

// answerName reads one question and answers it; each message has its length in
// two bytes before it.
func answerName(c net.Conn) error {
	var length [2]byte
	if _, err := io.ReadFull(c, length[:]); err != nil {
		return err
	}
	question := make([]byte, wire.BigEndian.Uint16(length[:]))
	if _, err := io.ReadFull(c, question); err != nil {
		return err
	}
	var m dnsmessage.Message
	if err := m.Unpack(question); err != nil {
		return err
	}
	m.Response, m.Additionals = true, nil
	if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
		m.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 1},
			Body:   &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}},
		}}
	}
	answer, err := m.Pack()
	if err != nil {
		return err
	}
	_, err = c.Write(append(wire.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...))
	return err
}

// shown is the certificate that Concert has for a name, checked with roots.
func shown(ctx context.Context, address, name string, roots *x509.CertPool) (*x509.Certificate, error) {
	d := tls.Dialer{Config: &tls.Config{ServerName: name, RootCAs: roots}}
	c, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.(*tls.Conn).ConnectionState().PeerCertificates[0], nil
}

// TestACMEObtainsAndRenews by TLS-ALPN-01, before anybody comes, for each name.
func TestACMEObtainsAndRenews(t *testing.T) {
	t.Parallel()
	listen, cache := parts.Address(t), filepath.Join(t.TempDir(), "acme")
	ca := startPebble(t, 15*time.Second, listen, parts.Address(t))
	p := startNamed(t, "one.acme.test", newOrigin(t).Addr(), "-listen", listen,
		"-tls-domains", "one.acme.test,two.acme.test", "-tls-email", "operator@acme.test", "-tls-cache", cache,
		"-tls-directory", ca.directory, "-tls-directory-ca", ca.ca, "-tls-eab-id", "customer-1")
	roots := ca.roots(t)
	first := map[string]*x509.Certificate{}
	for _, name := range []string{"one.acme.test", "two.acme.test"} {
		rawtest.Until(t, "a certificate for "+name, func() bool { // a busy machine may come after its end
			c, err := shown(t.Context(), p.Addr, name, roots)
			first[name] = c
			return err == nil
		})
	}
	files, err := os.ReadDir(cache)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if info, err := f.Info(); err == nil && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", f.Name(), info.Mode())
		}
	}
	if info, err := os.Stat(cache); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the cache directory: %v, %v", info, err)
	}
	for name, before := range first {
		rawtest.Until(t, "another certificate for "+name, func() bool {
			c, err := shown(t.Context(), p.Addr, name, roots)
			return err == nil && !c.Equal(before) && c.NotAfter.After(before.NotAfter)
		})
	}
	logged(t, p, `msg="certificate obtained" name=one.acme.test`)
	logged(t, p, "renewal=true")
	if strings.Contains(p.Stderr(), "no certificate could be had") {
		t.Errorf("attempts in vain:\n%s", p.Stderr())
	}
}

// TestACMEByPlainHTTP: the proof is given on the other listener when the
// authority does not get through to this one; and a restart asks for nothing.
func TestACMEByPlainHTTP(t *testing.T) {
	t.Parallel()
	listen, plain, cache := parts.Address(t), parts.Address(t), filepath.Join(t.TempDir(), "acme")
	ca := startPebble(t, 24*time.Hour, parts.Address(t), plain)
	origin := newOrigin(t).Addr()
	run := func() *launch.Process {
		return startNamed(t, "http.acme.test", origin, "-listen", listen, "-tls-http-listen", plain,
			"-tls-domains", "http.acme.test", "-tls-cache", cache, "-tls-directory", ca.directory, "-tls-directory-ca", ca.ca, "-tls-eab-id", "customer-1")
	}
	p := run()
	roots := ca.roots(t)
	first, err := shown(t.Context(), listen, "http.acme.test", roots)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(within(t, rawtest.Patience)); err != nil {
		t.Fatal(err)
	}
	p = run()
	again, err := shown(t.Context(), listen, "http.acme.test", roots)
	if err != nil || !again.Equal(first) {
		t.Errorf("after a restart: another certificate, or %v", err)
	}
	if strings.Contains(p.Stderr(), "certificate obtained") {
		t.Errorf("a restart asked for a certificate:\n%s", p.Stderr())
	}
}

// TestACMEFailureIsShown: what the authority found wrong, and that the site
// goes on with what it has.
func TestACMEFailureIsShown(t *testing.T) {
	t.Parallel()
	ca := startPebble(t, time.Hour, parts.Address(t), parts.Address(t)) // nobody listens there
	s := startSecure(t, newOrigin(t).Addr(), "-tls-domains", "fails.acme.test", "-tls-cache", filepath.Join(t.TempDir(), "acme"),
		"-tls-directory", ca.directory, "-tls-directory-ca", ca.ca, "-tls-eab-id", "customer-1")
	rawtest.Until(t, "the failure is in the stats", func() bool { return strings.Contains(s.stats(t).TLS.ACMEError, "tls-alpn-01") })
	logged(t, s.Process, "no certificate could be had")
	if _, err := shown(t.Context(), s.Addr, "fails.acme.test", s.ca.Pool()); err == nil {
		t.Error("there is a certificate")
	}
	for _, c := range s.stats(t).TLS.Certificates {
		if c.Source == "acme" && (c.Error == "" || !c.NotAfter.IsZero()) {
			t.Errorf("stats %+v", c)
		}
	}
	if a := s.visitor(t, true).page("/"); !a.isOrigin() {
		t.Errorf("the site: status %d", a.status)
	}
}
