package clientip

import (
	"net/netip"
	"strings"
	"testing"
)

// FuzzWalk holds the walk against what must be true of any chain.
func FuzzWalk(f *testing.F) {
	for _, seed := range [][2]string{
		{"", ""}, {"203.0.113.9", ""}, {"203.0.113.9:4711", "10.0.0.1"}, {"[2001:db8:1:2::5]:443", "::1"},
		{"127.0.0.1, 203.0.113.9", "10.0.0.1, 10.0.0.2"}, {"203.0.113.40, unknown", ""}, {"garbage, 203.0.113.9", ",,"},
		{"fe80::1%eth0", " \t,"}, {"::1%", "10.0.0.1:99999"}, {"[::ffff:10.0.0.1%x]:1", "[]"}, {"\x00\xff,%", "]:["},
	} {
		f.Add(seed[0], seed[1])
	}
	rs := resolver(f, "127.0.0.1, ::1, 10.0.0.0/8")
	peer := netip.MustParseAddr("127.0.0.1")
	f.Fuzz(func(t *testing.T, first, second string) {
		lines := []string{first, second}
		c := rs.ResolvePeer(peer, chain(lines...))

		if c.Addr != peer && !named(c.Addr, lines) {
			t.Errorf("%v is neither the peer nor in %q", c.Addr, lines)
		}
		if c.Unreadable && c.Addr != peer {
			t.Errorf("an unreadable chain %q gave %v", lines, c.Addr)
		}
		if c.Addr.Zone() != "" || c.Addr.Is4In6() || c.Key != KeyOf(c.Addr) {
			t.Errorf("%q gave %v with key %v", lines, c.Addr, c.Key)
		}
		if joined := rs.ResolvePeer(peer, chain(first+","+second)); joined != c {
			t.Errorf("%q: one line gives %+v, two give %+v", lines, joined, c)
		}
		// A client may write what it likes on the left of a found address.
		if !c.Unreadable && !rs.trust.Contains(c.Addr) {
			if spoofed := rs.ResolvePeer(peer, chain("198.51.100.7, 127.0.0.1, x", first, second)); spoofed != c {
				t.Errorf("%q: more on the left changed %v to %v", lines, c.Addr, spoofed.Addr)
			}
		}
		// One more trusted hop on the right changes nothing but the peer's own requests.
		longer := rs.ResolvePeer(peer, chain(first, second, "10.9.9.9"))
		if !strings.ContainsFunc(first+second, notBlank) {
			c.Addr = netip.MustParseAddr("10.9.9.9")
			c.Key = KeyOf(c.Addr)
		}
		if longer != c {
			t.Errorf("%q: a trusted hop on the right changed %+v to %+v", lines, c, longer)
		}
	})
}

func notBlank(r rune) bool { return r != ' ' && r != '\t' && r != ',' }

// named reports whether an entry of lines, read by the standard library's own
// parsers, is the address a.
func named(a netip.Addr, lines []string) bool {
	for entry := range strings.SplitSeq(strings.Join(lines, ","), ",") {
		entry = strings.Trim(entry, " \t")
		if ap, err := netip.ParseAddrPort(entry); err == nil && plain(ap.Addr()) == a {
			return true
		}
		entry = strings.TrimPrefix(entry, "[")
		if host, _, ok := strings.Cut(entry, "]"); ok {
			entry = host
		}
		if got, err := netip.ParseAddr(entry); err == nil && plain(got) == a {
			return true
		}
	}
	return false
}
