package clientip

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/andreimerlescu/concert/internal/commas"
)

// Trust is an immutable set of networks. A nil *Trust is the empty set.
type Trust struct {
	prefixes []netip.Prefix // as given, masked and unmapped
	spans    []span         // the same, sorted and merged
}

// span is a closed range of addresses of one family, without zones.
type span struct{ first, last netip.Addr }

// ParseTrust reads a comma-separated list of CIDRs and single addresses. Blank
// entries are skipped, host bits are masked away and IPv4-mapped IPv6 networks
// become IPv4. The error joins one error for each bad entry, naming it.
func ParseTrust(list string) (*Trust, error) {
	var (
		prefixes []netip.Prefix
		problems []error
	)
	for entry := range commas.Entries(list) {
		p, err := parseNetwork(entry)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		prefixes = append(prefixes, p)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return newTrust(prefixes), nil
}

func newTrust(prefixes []netip.Prefix) *Trust {
	spans := make([]span, 0, len(prefixes))
	for _, p := range prefixes {
		spans = append(spans, span{p.Addr(), lastOf(p)})
	}
	slices.SortFunc(spans, func(a, b span) int { return a.first.Compare(b.first) })
	return &Trust{prefixes: prefixes, spans: mergeSpans(spans)}
}

// parseNetwork reads one CIDR or one address.
func parseNetwork(s string) (netip.Prefix, error) {
	if !strings.Contains(s, "/") {
		a, err := netip.ParseAddr(s)
		if err != nil || a.Zone() != "" {
			return netip.Prefix{}, badNetwork(s)
		}
		a = a.Unmap()
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(s)
	if err != nil {
		return netip.Prefix{}, badNetwork(s)
	}
	if p.Addr().Is4In6() {
		// Addresses are compared unmapped, so a network reaching beyond the
		// mapped block would silently miss its IPv4 part.
		if p.Bits() < 96 {
			return netip.Prefix{}, fmt.Errorf("network %q is wider than the IPv4-mapped block: write its IPv4 part as IPv4", s)
		}
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	return p.Masked(), nil
}

func badNetwork(s string) error {
	return fmt.Errorf("%q is neither an address nor a network: write it like 203.0.113.9, 10.0.0.0/8 or 2001:db8::/32", s)
}

// lastOf returns the highest address of a masked prefix.
func lastOf(p netip.Prefix) netip.Addr {
	b := p.Addr().AsSlice()
	for bit := p.Bits(); bit < len(b)*8; bit++ {
		b[bit/8] |= 0x80 >> (bit % 8)
	}
	last, _ := netip.AddrFromSlice(b) // 4 or 16 bytes: cannot fail
	return last
}

// mergeSpans joins overlapping spans of a sorted list, so that a look-up has
// one candidate only. IPv4 sorts before IPv6, so families never overlap.
func mergeSpans(sorted []span) []span {
	merged := sorted[:0]
	for _, s := range sorted {
		if n := len(merged); n > 0 && s.first.Compare(merged[n-1].last) <= 0 {
			if s.last.Compare(merged[n-1].last) > 0 {
				merged[n-1].last = s.last
			}
			continue
		}
		merged = append(merged, s)
	}
	return merged
}

// Contains reports whether a is in the set. Zones are ignored, IPv4-mapped
// addresses count as IPv4, and the zero Addr is in no set.
func (t *Trust) Contains(a netip.Addr) bool { return t.holds(plain(a)) }

// holds is Contains of an address that is plain.
func (t *Trust) holds(a netip.Addr) bool {
	if t == nil || !a.IsValid() {
		return false
	}
	// The last span that starts at or below a is the only one that can hold it.
	lo, hi := 0, len(t.spans)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if t.spans[mid].first.Compare(a) <= 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo > 0 && a.Compare(t.spans[lo-1].last) <= 0
}

// Prefixes returns the networks in the order they were given, masked.
func (t *Trust) Prefixes() []netip.Prefix {
	if t == nil {
		return nil
	}
	return slices.Clone(t.prefixes)
}

// String returns the set as a list that [ParseTrust] reads back.
func (t *Trust) String() string {
	var b strings.Builder
	for i, p := range t.Prefixes() {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(p.String())
	}
	return b.String()
}

// plain drops the zone and turns IPv4-mapped IPv6 into IPv4.
func plain(a netip.Addr) netip.Addr { return a.WithZone("").Unmap() }
