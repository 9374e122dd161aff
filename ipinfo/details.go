package ipinfo

import (
	"encoding/binary"
	"math/bits"
	"net/netip"
	"strconv"
)

// Source answers who owns an address.
type Source interface {
	// Lookup answers at once, from memory. It reports false when the owner is
	// not known, or not known yet. IPv4-mapped addresses count as IPv4.
	Lookup(a netip.Addr) (Details, bool)
}

// NoCountry is the code of a range that belongs to no country.
const NoCountry = "None"

// Details is what is known of one address.
type Details struct {
	Addr        netip.Addr // without zone, IPv4-mapped as IPv4
	First, Last netip.Addr // the range that contains Addr, both ends inclusive; zero when not known
	ASN         uint32     // autonomous system number; 0: not routed
	Code        string     // ISO 3166 code of the country, or NoCountry
	Description string     // who runs the network; valid UTF-8 without control characters
}

// Country returns the English name of the country, "Unknown" for none and the
// code itself for one without a name.
func (d Details) Country() string { return CountryName(d.Code) }

// Flag returns the country's flag as emoji.
func (d Details) Flag() string { return Flag(d.Code) }

// ASNText returns the AS number as people write it, AS64496, and "" for a
// network that is not routed.
func (d Details) ASNText() string {
	if d.ASN == 0 {
		return ""
	}
	return "AS" + strconv.FormatUint(uint64(d.ASN), 10)
}

// Range returns the containing range: a CIDR when it is one, first-last
// otherwise, and "" when it is not known.
func (d Details) Range() string {
	if !d.First.IsValid() {
		return ""
	}
	if n, ok := d.prefixBits(); ok {
		return d.First.String() + "/" + strconv.Itoa(n)
	}
	return d.First.String() + "-" + d.Last.String()
}

// prefixBits returns the length of the prefix that the range is, if it is one.
func (d Details) prefixBits() (int, bool) {
	first, last := keyOf(d.First), keyOf(d.Last)
	// In a prefix the two differ in the host bits, and in all of them.
	host := key{first.hi ^ last.hi, first.lo ^ last.lo}
	free := bits.Len64(host.lo)
	if host.hi != 0 {
		free = 64 + bits.Len64(host.hi)
	}
	if host != lowBits(free) || first.hi&host.hi != 0 || first.lo&host.lo != 0 {
		return 0, false
	}
	return d.First.BitLen() - free, true
}

// key is an address as a number. An IPv4 address stands in the low 32 bits.
type key struct{ hi, lo uint64 }

func keyOf(a netip.Addr) key {
	if a.Is4() {
		b := a.As4()
		return key{0, uint64(binary.BigEndian.Uint32(b[:]))}
	}
	b := a.As16()
	return key{binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])}
}

func (k key) less(o key) bool { return k.hi < o.hi || k.hi == o.hi && k.lo < o.lo }

// lowBits returns the number whose n lowest bits are set, n from 0 to 128.
func lowBits(n int) key {
	if n > 64 {
		return key{1<<(n-64) - 1, ^uint64(0)}
	}
	return key{0, 1<<n - 1}
}

func addr4(n uint32) netip.Addr {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], n)
	return netip.AddrFrom4(b)
}

func addr6(k key) netip.Addr {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], k.hi)
	binary.BigEndian.PutUint64(b[8:], k.lo)
	return netip.AddrFrom16(b)
}
