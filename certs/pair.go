package certs

import (
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// maxFile bounds a certificate or key file, in bytes.
const maxFile = 1 << 20

// Pair names the files of one certificate: the chain with the server's own
// first, and its private key, both as PEM.
type Pair struct{ Cert, Key string }

// Load reads the pair. The error is a line that says what is wrong with which
// file, and what to do. A certificate whose time is over is no error here: see
// [Pair.Warnings].
func (p Pair) Load() (*tls.Certificate, error) {
	chain, err := readFile(p.Cert)
	if err != nil {
		return nil, err
	}
	key, err := readFile(p.Key)
	if err != nil {
		return nil, err
	}
	cert, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return nil, p.explain(chain, key, err)
	}
	return &cert, nil
}

// readFile reads a small file.
func readFile(name string) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no file %s", name)
	case errors.Is(err, fs.ErrPermission):
		return nil, unreadable(name)
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", name)
	case info.Size() > maxFile:
		return nil, fmt.Errorf("%s is larger than 1 MiB", name)
	}
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrPermission) {
		return nil, unreadable(name)
	}
	return data, err
}

func unreadable(name string) error {
	return fmt.Errorf("%s must not be read by %s; give it the right to (a folder on the way may be what is closed), or have the certificate copied for Concert", name, whoami())
}

// whoami is the user of this process, for messages.
func whoami() string {
	if id := os.Getuid(); id >= 0 {
		return fmt.Sprintf("this user (uid %d)", id)
	}
	return "this user"
}

// explain says why a chain and a key do not make a pair.
func (p Pair) explain(chain, key []byte, err error) error {
	kinds := blocks(chain)
	switch {
	case len(kinds) == 0:
		return fmt.Errorf("%s holds no PEM text; a DER file is turned into it by: openssl x509 -inform der -in FILE", p.Cert)
	case !slices.Contains(kinds, "CERTIFICATE"):
		return fmt.Errorf("%s holds no certificate but a %s; the chain goes into -tls-cert, the key into -tls-key", p.Cert, kinds[0])
	}
	kinds = blocks(key)
	switch {
	case len(kinds) == 0:
		return fmt.Errorf("%s holds no PEM text; it should begin with -----BEGIN PRIVATE KEY-----", p.Key)
	case slices.Contains(kinds, "ENCRYPTED PRIVATE KEY") || strings.Contains(string(key), "\nProc-Type: 4,ENCRYPTED"):
		return fmt.Errorf("%s is encrypted, and nobody is there to type the password; write an open one, for its owner only, with: openssl pkey -in FILE", p.Key)
	case !slices.Contains(kinds, "PRIVATE KEY") && !slices.Contains(kinds, "EC PRIVATE KEY") && !slices.Contains(kinds, "RSA PRIVATE KEY"):
		return fmt.Errorf("%s holds no private key but a %s; the key goes into -tls-key, the chain into -tls-cert", p.Key, kinds[0])
	}
	if at := belongsTo(chain, key); at > 0 {
		return fmt.Errorf("the key of %s belongs to certificate %d of %s: put the server's own first, those of the authorities behind it", p.Key, at+1, p.Cert)
	}
	if strings.Contains(err.Error(), "does not match") {
		return fmt.Errorf("the key of %s does not belong to the certificate of %s: name the two that were made together", p.Key, p.Cert)
	}
	return fmt.Errorf("%s with %s: %s", p.Cert, p.Key, strings.TrimPrefix(err.Error(), "tls: "))
}

// blocks are the kinds of the PEM blocks of a file.
func blocks(data []byte) []string {
	var kinds []string
	for {
		var b *pem.Block
		if b, data = pem.Decode(data); b == nil {
			return kinds
		}
		kinds = append(kinds, b.Type)
	}
}

// belongsTo is the place in the chain of the certificate that the key is of;
// -1 for none.
func belongsTo(chain, key []byte) int {
	for at := 0; ; at++ {
		var b *pem.Block
		if b, chain = pem.Decode(chain); b == nil {
			return -1
		}
		if _, err := tls.X509KeyPair(pem.EncodeToMemory(b), key); err == nil {
			return at
		}
	}
}

// Warnings are what an operator should know of a pair that can be used, one
// line each.
func (p Pair) Warnings(c *tls.Certificate, now time.Time) []string {
	var all []string
	warn := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	switch leaf := c.Leaf; {
	case now.After(leaf.NotAfter):
		warn("-tls-cert %s: its time was over on %s; browsers warn of the site until it is renewed", p.Cert, leaf.NotAfter.UTC().Format(time.RFC3339))
	case now.Before(leaf.NotBefore):
		warn("-tls-cert %s: its time begins on %s; is the clock of this machine right?", p.Cert, leaf.NotBefore.UTC().Format(time.RFC3339))
	}
	if len(c.Leaf.DNSNames)+len(c.Leaf.IPAddresses) == 0 {
		warn("-tls-cert %s: it names no host (subjectAltName), so no browser accepts it", p.Cert)
	}
	if info, err := os.Stat(p.Key); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o004 != 0 {
		warn("-tls-key %s: every user of this machine can read it; chmod 600 it", p.Key)
	}
	return all
}
