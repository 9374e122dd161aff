package certs

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/net/idna"
)

// nameOf returns the form in which a domain is asked for: in lower case, as
// Punycode, without a dot at its end. The error says what a domain must not be.
func nameOf(text string) (string, error) {
	name := strings.TrimSuffix(text, ".")
	switch {
	case strings.Contains(name, "://") || strings.Contains(name, "/"):
		return "", errors.New("write the bare host name, without scheme and path")
	case strings.Contains(name, "@"):
		return "", errors.New("write a host name, not an e-mail address")
	case strings.Contains(name, "*"):
		return "", errors.New("wildcards cannot be had this way; name each host, or use a certificate of your own with -tls-cert")
	case isAddress(name):
		return "", errors.New("addresses cannot be had this way; write a host name")
	case strings.Contains(name, ":"):
		return "", errors.New("leave out the port")
	case !strings.Contains(name, "."):
		return "", errors.New("a public host name has a dot in it")
	}
	ascii, err := idna.Lookup.ToASCII(name)
	if err != nil || !isHost(ascii) {
		return "", errors.New("this is no host name")
	}
	return ascii, nil
}

func isAddress(text string) bool {
	_, err := netip.ParseAddr(strings.Trim(text, "[]"))
	return err == nil
}

// isHost reports whether every label has a form that the DNS takes.
func isHost(name string) bool {
	if len(name) > 253 {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' || strings.Contains(label, "_") {
			return false
		}
	}
	return true
}

// Names is the form in which each domain is asked for, without repetitions. The
// error joins one for each that cannot be.
func Names(texts []string) ([]string, error) {
	var names []string
	var problems []error
	for _, text := range texts {
		name, err := nameOf(text)
		switch {
		case err != nil:
			problems = append(problems, fmt.Errorf("%s: %w", text, err))
		case !slices.Contains(names, name):
			names = append(names, name)
		}
	}
	return names, errors.Join(problems...)
}

// folded is the server name of a client's greeting in the form of Names. Most
// are already.
func folded(name string) string {
	return strings.ToLower(strings.TrimSuffix(name, "."))
}
