package hosts

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/andreimerlescu/concert/internal/commas"
)

// maxName is the longest host name there is, in bytes (RFC 1035, section 2.3.4).
const maxName = 253

// Set is a list of host names. The zero value and nil have none.
type Set struct {
	names   map[string]bool // in lower case, without port and final dot
	parents map[string]bool // "shop.example" of "*.shop.example"
	text    string
}

// Parse reads names separated by commas: a host name, "*." before one for every
// name below it, at any depth, or an address (IPv6 with or without brackets).
// The error names every entry that is none of these.
func Parse(list string) (*Set, error) {
	s := &Set{names: map[string]bool{}, parents: map[string]bool{}}
	var problems []error
	var texts []string
	for entry := range commas.Entries(list) {
		into, name := s.names, entry
		if parent, below := strings.CutPrefix(entry, "*."); below {
			into, name = s.parents, parent
		}
		name, err := parseName(name)
		if err != nil {
			problems = append(problems, fmt.Errorf("%q %w", entry, err))
			continue
		}
		into[name] = true
		texts = append(texts, strings.ToLower(entry))
	}
	s.text = strings.Join(slices.Compact(texts), ",")
	return s, errors.Join(problems...)
}

// parseName returns name as Has looks it up.
func parseName(name string) (string, error) {
	if a, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
		return a.WithZone("").String(), nil
	}
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	switch {
	case name == "" || len(name) > maxName:
		return "", errors.New("is no host name")
	case strings.Contains(name, ":"):
		return "", errors.New("has a port or a scheme: give the name alone, every port of it is meant")
	case strings.Contains(name, "*"):
		return "", errors.New("has a * inside: it may only stand for everything below a name, as in *.shop.example")
	}
	for _, label := range strings.Split(name, ".") {
		if label == "" || strings.ContainsFunc(label, func(r rune) bool { return !nameRune(r) }) {
			return "", errors.New("is no host name: international names are written in their xn-- form")
		}
	}
	return name, nil
}

func nameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_'
}

// Empty reports whether s has no name.
func (s *Set) Empty() bool { return s == nil || len(s.names)+len(s.parents) == 0 }

// String gives the list as Parse takes it.
func (s *Set) String() string {
	if s == nil {
		return ""
	}
	return s.text
}

// Has reports whether s has the name in host, which is what a Host field holds:
// in any case, with or without a port and a final dot. A name that is longer
// than names can be is in no set.
func (s *Set) Has(host string) bool {
	if s.Empty() {
		return false
	}
	host = withoutPort(host)
	if len(host) > 0 && host[0] == '[' || strings.IndexByte(host, ':') >= 0 {
		return s.hasAddress(host)
	}
	if host = strings.TrimSuffix(host, "."); len(host) > maxName {
		return false
	}
	var buf [maxName]byte
	name := buf[:len(host)]
	for i := range len(host) {
		name[i] = lower(host[i])
	}
	if s.names[string(name)] {
		return true
	}
	for i, c := range name {
		if c == '.' && s.parents[string(name[i+1:])] {
			return true
		}
	}
	return false
}

// hasAddress looks an IPv6 literal up, however it is spelt.
func (s *Set) hasAddress(host string) bool {
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	if err != nil {
		return false
	}
	var buf [48]byte
	return s.names[string(a.WithZone("").AppendTo(buf[:0]))]
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// withoutPort cuts ":port" off. A colon inside brackets belongs to the address,
// and so do two or more without brackets.
func withoutPort(host string) string {
	i := strings.LastIndexByte(host, ':')
	if i < 0 || strings.IndexByte(host[i:], ']') >= 0 || host[0] != '[' && strings.IndexByte(host[:i], ':') >= 0 {
		return host
	}
	return host[:i]
}
