package certs

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/internal/certtest"
)

// seeded is a cache directory that has a certificate already.
func seeded(t *testing.T, p certtest.Pair, name string) string {
	t.Helper()
	dir := t.TempDir()
	block, _ := pem.Decode(p.Chain)
	write(t, dir, name, append(bytes.Clone(p.Key), pem.EncodeToMemory(block)...))
	return dir
}

// unreachable fails the test when the authority is asked for anything.
type unreachable struct{ t *testing.T }

func (u unreachable) RoundTrip(r *http.Request) (*http.Response, error) {
	u.t.Errorf("the authority was asked for %s", r.URL)
	return nil, net.ErrClosed
}

// TestStrangersDoNotReachTheAuthority: names that are not ours end calmly, and
// a certificate that is in the cache is not asked for again.
func TestStrangersDoNotReachTheAuthority(t *testing.T) {
	ca := certtest.New(t)
	m := New(Options{})
	p, err := m.Plan(Config{Domains: []string{"example.test"}, Cache: seeded(t, ca.Issue(t, certtest.Names("example.test")), "example.test")})
	if err != nil {
		t.Fatal(err)
	}
	p.authority.witness.next = unreachable{t}
	m.Use(p)
	mem := serve(t, m)
	for _, name := range []string{"other.test", "", "www.example.test", "acme_account+key", "../../etc/passwd.test"} {
		for _, protocols := range [][]string{{"h2"}, {"acme-tls/1"}} {
			_, err := shake(t, mem, &tls.Config{ServerName: name, InsecureSkipVerify: true, NextProtos: protocols}) // nothing is to come of it
			if err == nil || !strings.Contains(err.Error(), "unrecognized name") {
				t.Errorf("%q, %v: %v", name, protocols, err)
			}
		}
	}
	if _, err := shake(t, mem, &tls.Config{ServerName: "EXAMPLE.TEST", RootCAs: ca.Pool()}); err != nil {
		t.Errorf("a name in capitals: %v", err)
	}
	if _, err := shake(t, mem, &tls.Config{ServerName: "example.test", InsecureSkipVerify: true, NextProtos: []string{"acme-tls/1"}}); err == nil {
		t.Error("a proof that nobody asked for")
	}
	got := m.Stats().Certificates
	if len(got) != 1 || got[0].NotAfter == nil || got[0].Source != "acme" || got[0].Error != "" {
		t.Errorf("certificates %+v", got)
	}
}

func TestCacheDirectoryIsTheOwners(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "to", "be", "made")
	managerOf(t, Config{Domains: []string{"example.test"}, Cache: dir})
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestAuthorityStaysWhileItsConfigurationDoes, and goes with it.
func TestAuthorityStaysWhileItsConfigurationDoes(t *testing.T) {
	m := managerOf(t, Config{Domains: []string{"site.test"}, Cache: t.TempDir()})
	first := m.plan.Load().authority
	same := first.config
	same.Files = []Pair{own(t, certtest.New(t), "own.test")}
	p, err := m.Plan(same)
	if err != nil {
		t.Fatal(err)
	}
	if m.Use(p); m.plan.Load().authority != first || first.witness.retired.Load() {
		t.Error("another authority for the same names")
	}
	same.Domains = []string{"site.test", "www.site.test"}
	if p, err = m.Plan(same); err != nil {
		t.Fatal(err)
	}
	if m.Use(p); m.plan.Load().authority == first || !first.witness.retired.Load() {
		t.Error("the authority before goes on")
	}
	if _, err := m.Plan(Config{Domains: []string{"site.test"}, Cache: t.TempDir(), DirectoryCA: []byte("nonsense")}); err == nil {
		t.Error("roots that are none are accepted")
	}
	if roots, err := transportTo(certtest.New(t).PEM()); err != nil || roots.TLSClientConfig.RootCAs.Equal(x509.NewCertPool()) {
		t.Errorf("good roots: %v", err)
	}
}
