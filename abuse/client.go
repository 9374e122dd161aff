package abuse

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/andreimerlescu/concert/clientip"
)

// The widest ranges that can be banned, in bits of their prefix. Anything wider
// is more likely to be a slip of the finger than an attacker.
const (
	widestIPv4 = 8
	widestIPv6 = 16
)

// MaxRanges is the most ranges that can be banned at once.
const MaxRanges = 4096

// Errors about the client of a ban.
var (
	ErrBadClient = errors.New("want an address such as 203.0.113.9, or a range such as 203.0.113.0/24 or 2001:db8::/32")
	ErrTooBroad  = fmt.Errorf("the range is too broad: IPv4 takes /%d or longer, IPv6 /%d or longer", widestIPv4, widestIPv6)
	ErrExempt    = errors.New("the client is exempt: remove it from -abuse-allow or -trusted-proxies first")
	ErrTooMany   = fmt.Errorf("%d ranges are banned already: lift one, or ban a wider one", MaxRanges)
)

// ParseClient reads an address or a range in CIDR notation and returns what a
// ban of it is kept under; see [Canonical].
func ParseClient(text string) (netip.Prefix, error) {
	p, err := parsePrefix(strings.TrimSpace(text))
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("%q: %w", text, ErrBadClient)
	}
	p, err = Canonical(p)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("%q: %w", text, err)
	}
	return p, nil
}

func parsePrefix(text string) (netip.Prefix, error) {
	if strings.Contains(text, "/") {
		return netip.ParsePrefix(text)
	}
	a, err := netip.ParseAddr(text)
	if err == nil && a.Zone() != "" {
		err = ErrBadClient // a zone names a network card of one machine
	}
	return netip.PrefixFrom(a, a.BitLen()), err
}

// Canonical returns the prefix that a ban of p is kept under: host bits masked,
// IPv4-mapped as IPv4, and an IPv6 network narrower than /64 as the /64 around
// it, which is one client. The error is ErrBadClient or ErrTooBroad.
func Canonical(p netip.Prefix) (netip.Prefix, error) {
	if !p.IsValid() {
		return netip.Prefix{}, ErrBadClient
	}
	if p.Addr().Is4In6() {
		if p.Bits() < 96 {
			return netip.Prefix{}, ErrTooBroad // reaches beyond the mapped block
		}
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	widest, client := widestIPv4, 32
	if p.Addr().Is6() {
		widest, client = widestIPv6, 64
	}
	if p.Bits() < widest {
		return netip.Prefix{}, ErrTooBroad
	}
	return netip.PrefixFrom(p.Addr(), min(p.Bits(), client)).Masked(), nil
}

// isRange reports whether the canonical prefix p is more than one client.
func isRange(p netip.Prefix) bool {
	if p.Addr().Is4() {
		return p.Bits() < 32
	}
	return p.Bits() < 64
}

// id is a client in the form the look-up hashes: an IPv4 address, or the upper
// half of an IPv6 one.
type id struct {
	net uint64
	six bool
}

// idOf returns the client that a plain address belongs to.
func idOf(a netip.Addr) id {
	if a.Is4() {
		b := a.As4()
		return id{net: uint64(binary.BigEndian.Uint32(b[:]))}
	}
	b := a.As16()
	return id{net: binary.BigEndian.Uint64(b[:8]), six: true}
}

// plain drops the zone and turns IPv4-mapped IPv6 into IPv4.
func plain(a netip.Addr) netip.Addr { return a.WithZone("").Unmap() }

// keyOf is the prefix of the client that a belongs to.
func keyOf(a netip.Addr) netip.Prefix { return clientip.KeyOf(a) }
