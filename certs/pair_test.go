package certs

import (
	"crypto/tls"
	"encoding/pem"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/internal/certtest"
)

// write makes a file of the test's folder.
func write(t *testing.T, dir, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestBadPairsNameTheRemedy: each way of getting files wrong is told apart.
func TestBadPairsNameTheRemedy(t *testing.T) {
	ca, dir := certtest.New(t), t.TempDir()
	pair := ca.Issue(t, certtest.Names("site.test"))
	cert, key := pair.Write(t, dir, "good")
	if _, err := (Pair{cert, key}).Load(); err != nil {
		t.Fatalf("a good pair: %v", err)
	}
	_, otherKey := ca.Issue(t, certtest.Names("other.test")).Write(t, dir, "other")
	block, rest := pem.Decode(pair.Chain)
	turned := slices.Concat(rest, pem.EncodeToMemory(block))
	encrypted := pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: []byte{1}})
	f := func(p Pair, says ...string) {
		t.Helper()
		_, err := p.Load()
		for _, want := range says {
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v\nwant a line that says %q", err, want)
			}
		}
	}
	f(Pair{dir + "/none.pem", key}, "there is no file", "none.pem")
	f(Pair{cert, dir + "/none.key"}, "there is no file", "none.key")
	f(Pair{dir, key}, "not a regular file")
	f(Pair{cert, otherKey}, "does not belong", "good.pem", "other.key")
	f(Pair{key, cert}, "good.key", "the chain goes into -tls-cert")
	f(Pair{cert, cert}, "no private key", "-tls-key")
	f(Pair{write(t, dir, "der", pair.Leaf.Raw), key}, "no PEM", "openssl x509 -inform der")
	f(Pair{cert, write(t, dir, "empty", nil)}, "no PEM", "empty")
	f(Pair{cert, write(t, dir, "secret", encrypted)}, "encrypted", "openssl pkey")
	f(Pair{write(t, dir, "turned", turned), key}, "certificate 2", "first")
	f(Pair{write(t, dir, "big", make([]byte, maxFile+1)), key}, "1 MiB")
	broken := slices.Clone(pair.Chain)
	broken[40] ^= 1
	f(Pair{write(t, dir, "broken", broken), key}, "broken")
	if os.Getuid() > 0 {
		if err := os.Chmod(key, 0); err != nil {
			t.Fatal(err)
		}
		f(Pair{cert, key}, "must not be read by this user", "uid")
	}
}

func TestPairWarnings(t *testing.T) {
	ca, dir, now := certtest.New(t), t.TempDir(), time.Now()
	f := func(says string, chmod os.FileMode, options ...certtest.Option) {
		t.Helper()
		cert, key := ca.Issue(t, options...).Write(t, dir, "site")
		if err := os.Chmod(key, chmod); err != nil {
			t.Fatal(err)
		}
		p := Pair{cert, key}
		c, err := p.Load()
		if err != nil {
			t.Fatal(err)
		}
		got := p.Warnings(c, now)
		if says == "" && len(got) > 0 || says != "" && (len(got) != 1 || !strings.Contains(got[0], says)) {
			t.Errorf("warnings %q, want %q", got, says)
		}
	}
	named := certtest.Names("site.test")
	f("", 0o600, named)
	f("", 0o640, named) // a group for it is common
	f("was over", 0o600, named, certtest.From(now.Add(-time.Hour), now.Add(-time.Minute)))
	f("clock", 0o600, named, certtest.From(now.Add(time.Minute), now.Add(time.Hour)))
	f("subjectAltName", 0o600)
	f("every user", 0o644, named)
}

// TestRereadTakesUpWhatChanged, and keeps what cannot be used.
func TestRereadTakesUpWhatChanged(t *testing.T) {
	ca, dir := certtest.New(t), t.TempDir()
	one, two := ca.Issue(t, certtest.Names("one.test")), ca.Issue(t, certtest.Names("two.test"))
	c1, k1 := one.Write(t, dir, "1")
	c2, k2 := two.Write(t, dir, "2")
	f, err := loadFiles([]Pair{{c1, k1}, {c2, k2}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	hello := new(tls.ClientHelloInfo)
	serves := func(f *files, name string, want certtest.Pair) {
		t.Helper()
		if got := f.pick(name, hello); got == nil || !got.Leaf.Equal(want.Leaf) {
			t.Errorf("%s: another certificate than wanted", name)
		}
	}
	if next, changed, err := f.reread(); next != f || changed != nil || err != nil {
		t.Errorf("nothing changed: %v, %v", changed, err)
	}
	fresh := ca.Issue(t, certtest.Names("one.test", "new.test"))
	age := func(path string) { // the clock of files may be coarse
		then := time.Now().Add(-time.Hour)
		if err := os.Chtimes(path, then, then); err != nil {
			t.Fatal(err)
		}
	}
	write(t, dir, "1.pem", fresh.Chain) // the key comes a moment later
	age(c1)
	next, changed, err := f.reread()
	if next != f || changed != nil || err == nil || !strings.Contains(err.Error(), "does not belong") {
		t.Errorf("half a change: %v, %v", changed, err)
	}
	serves(next, "one.test", one)
	write(t, dir, "1.key", fresh.Key)
	age(k1)
	if next, changed, err = f.reread(); len(changed) != 1 || err != nil {
		t.Errorf("a whole change: %v, %v", changed, err)
	}
	serves(next, "one.test", fresh)
	serves(next, "new.test", fresh)
	serves(next, "two.test", two)
	if err := os.Remove(k2); err != nil {
		t.Fatal(err)
	}
	next, _, err = next.reread()
	if err == nil {
		t.Error("a missing file is no error")
	}
	serves(next, "two.test", two)
}
