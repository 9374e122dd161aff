package ipinfo

import (
	"encoding/binary"
	"net/netip"
	"strconv"
)

// IPv8 addresses are 64 bits: the AS number as routing prefix, then an IPv4
// address as host (draft-thain-ipv8-02, sections 3 and 6). Only an IPv4 address
// has such a form.

// IPv8 returns the address in full 8-octet notation, 0.0.251.240.192.0.2.1 for
// 192.0.2.1 in AS64496, and "" for an IPv6 address.
func (d Details) IPv8() string { return octets8(d.ASN, d.Addr) }

// ASNDot returns the address in ASN-dot notation, 64496.192.0.2.1 for 192.0.2.1
// in AS64496, and "" for an IPv6 address.
func (d Details) ASNDot() string { return asnDot(d.ASN, d.Addr) }

// IPv8Range returns the containing range in 8-octet notation, where a prefix of
// n bits has 32+n, and "" for an IPv6 range.
func (d Details) IPv8Range() string { return d.range8(octets8, 32) }

// ASNDotRange returns the containing range in ASN-dot notation, where a prefix
// keeps its length, and "" for an IPv6 range.
func (d Details) ASNDotRange() string { return d.range8(asnDot, 0) }

func (d Details) range8(form func(uint32, netip.Addr) string, prefix int) string {
	if !d.First.Is4() {
		return ""
	}
	if n, ok := d.prefixBits(); ok {
		return form(d.ASN, d.First) + "/" + strconv.Itoa(prefix+n)
	}
	return form(d.ASN, d.First) + "-" + form(d.ASN, d.Last)
}

func octets8(asn uint32, host netip.Addr) string {
	if !host.Is4() {
		return ""
	}
	var routing [4]byte
	binary.BigEndian.PutUint32(routing[:], asn)
	return netip.AddrFrom4(routing).String() + "." + host.String()
}

func asnDot(asn uint32, host netip.Addr) string {
	if !host.Is4() {
		return ""
	}
	return strconv.FormatUint(uint64(asn), 10) + "." + host.String()
}
