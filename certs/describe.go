package certs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Describe tells an operator which certificates c leads to, a line each,
// without asking the authority. What cannot be used is left out: that is
// reported as a problem.
func Describe(c Config, now time.Time) []string {
	var lines []string
	for _, p := range c.Files {
		cert, err := p.Load()
		if err != nil {
			continue
		}
		names := append([]string{}, cert.Leaf.DNSNames...)
		for _, ip := range cert.Leaf.IPAddresses {
			names = append(names, ip.String())
		}
		lines = append(lines, fmt.Sprintf("certificate %s: for %s, until %s, by %s",
			p.Cert, strings.Join(names, ", "), cert.Leaf.NotAfter.UTC().Format(time.DateOnly), issuer(cert.Leaf.Issuer.CommonName)))
	}
	for _, name := range c.Domains {
		data, err := os.ReadFile(filepath.Join(c.Cache, name))
		if leaf := leafOf(data); err == nil && leaf != nil && now.Before(leaf.NotAfter) {
			lines = append(lines, fmt.Sprintf("certificate of the authority: for %s, until %s, by %s",
				name, leaf.NotAfter.UTC().Format(time.DateOnly), issuer(leaf.Issuer.CommonName)))
			continue
		}
		lines = append(lines, fmt.Sprintf("certificate of the authority: for %s, asked for at the start from %s", name, c.Directory))
	}
	return lines
}

// issuer is the name of an authority, which may have none.
func issuer(name string) string {
	if name == "" {
		return "an authority without a name"
	}
	return name
}
