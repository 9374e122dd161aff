package clientip

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"
)

const local = "127.0.0.1:50000"

func resolver(t testing.TB, trusted string) *Resolver {
	t.Helper()
	return NewResolver(mustTrust(t, trusted))
}

func chain(lines ...string) http.Header {
	h := http.Header{}
	for _, l := range lines {
		h.Add("X-Forwarded-For", l)
	}
	return h
}

func TestResolveBehindATrustedPeer(t *testing.T) {
	longZone := "::1%" + strings.Repeat("z", 4000)
	for _, tt := range []struct {
		name       string
		lines      []string
		addr, key  string
		unreadable bool
	}{
		{name: "no chain: the proxy's own request", addr: "127.0.0.1", key: "127.0.0.1"},
		{name: "one address", lines: []string{"203.0.113.9"}, addr: "203.0.113.9", key: "203.0.113.9"},
		{name: "IPv4 with port", lines: []string{"203.0.113.9:4711"}, addr: "203.0.113.9", key: "203.0.113.9"},
		{name: "bracketed IPv6 with port", lines: []string{"[2001:db8:1:2::5]:443"}, addr: "2001:db8:1:2::5", key: "2001:db8:1:2::/64"},
		{name: "bracketed IPv6", lines: []string{"[2001:db8:5:6::1]"}, addr: "2001:db8:5:6::1", key: "2001:db8:5:6::/64"},
		{name: "bare IPv6 of the same network", lines: []string{"2001:db8:5:6::2"}, addr: "2001:db8:5:6::2", key: "2001:db8:5:6::/64"},
		{name: "IPv6 with zone", lines: []string{"fe80::1%eth0"}, addr: "fe80::1", key: "fe80::/64"},
		{name: "bracketed IPv6 with zone and port", lines: []string{"[fe80::1%25eth0]:80"}, addr: "fe80::1", key: "fe80::/64"},
		{name: "IPv4-mapped", lines: []string{"::ffff:203.0.113.9"}, addr: "203.0.113.9", key: "203.0.113.9"},
		{name: "spoofed trusted entry on the left", lines: []string{"127.0.0.1, 203.0.113.9"}, addr: "203.0.113.9", key: "203.0.113.9"},
		{name: "trusted hops on the right", lines: []string{"198.51.100.1, 203.0.113.9, 10.0.0.1 ,10.0.0.2:80"}, addr: "203.0.113.9", key: "203.0.113.9"},
		{name: "last line first", lines: []string{"198.51.100.1", "198.51.100.2, 203.0.113.9", "10.0.0.1"}, addr: "203.0.113.9", key: "203.0.113.9"},
		{name: "all trusted: the left-most", lines: []string{"10.0.0.3, 10.0.0.2", "10.0.0.1"}, addr: "10.0.0.3", key: "10.0.0.3"},
		{name: "rubbish left of the answer is never reached", lines: []string{"garbage, 203.0.113.9"}, addr: "203.0.113.9", key: "203.0.113.9"},
		{name: "blank entries on the right", lines: []string{"203.0.113.9, \t, "}, addr: "203.0.113.9", key: "203.0.113.9"},
		{name: "blank entries on the left", lines: []string{",,203.0.113.9"}, addr: "203.0.113.9", key: "203.0.113.9"},
		{name: "only blanks", lines: []string{"", " , ,"}, addr: "127.0.0.1", key: "127.0.0.1"},
		{name: "unknown right of an address", lines: []string{"203.0.113.40, unknown"}, addr: "127.0.0.1", key: "127.0.0.1", unreadable: true},
		{name: "unknown between trusted hops", lines: []string{"203.0.113.40, _hidden, 10.0.0.1"}, addr: "127.0.0.1", key: "127.0.0.1", unreadable: true},
		{name: "no address at all", lines: []string{"203.0.113.999"}, addr: "127.0.0.1", key: "127.0.0.1", unreadable: true},
		{name: "endless zone", lines: []string{longZone}, addr: "127.0.0.1", key: "127.0.0.1", unreadable: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := resolver(t, "127.0.0.1, ::1, 10.0.0.0/8").Resolve(local, chain(tt.lines...))
			want := Client{
				Addr: netip.MustParseAddr(tt.addr), Key: KeyOf(netip.MustParseAddr(tt.addr)),
				Peer: netip.MustParseAddr("127.0.0.1"), PeerTrusted: true, Unreadable: tt.unreadable,
			}
			if c != want {
				t.Errorf("got %+v, want %+v", c, want)
			}
			if got := FormatKey(c.Key); got != tt.key {
				t.Errorf("key %s, want %s", got, tt.key)
			}
		})
	}
}

func TestUntrustedPeerIsTheClient(t *testing.T) {
	for _, tt := range []struct{ remote, addr, key string }{
		{"127.0.0.2:1234", "127.0.0.2", "127.0.0.2"},
		{"[::ffff:127.0.0.2]:1234", "127.0.0.2", "127.0.0.2"},
		{"[2001:db8:1:2::5]:1234", "2001:db8:1:2::5", "2001:db8:1:2::/64"},
		{"[fe80::1%eth0]:1234", "fe80::1", "fe80::/64"},
	} {
		c := resolver(t, "127.0.0.1").Resolve(tt.remote, chain("203.0.113.9"))
		want := netip.MustParseAddr(tt.addr)
		if c.Addr != want || c.Peer != want || c.PeerTrusted || c.Unreadable || FormatKey(c.Key) != tt.key {
			t.Errorf("%s: got %+v, key %s", tt.remote, c, FormatKey(c.Key))
		}
	}
}

func TestIPv4MappedPeerIsTrustedAsIPv4(t *testing.T) {
	c := resolver(t, "127.0.0.1").Resolve("[::ffff:127.0.0.1]:9", chain("203.0.113.9"))
	if !c.PeerTrusted || c.Addr != netip.MustParseAddr("203.0.113.9") {
		t.Errorf("got %+v", c)
	}
}

func TestConnectionWithoutAddress(t *testing.T) {
	for _, remote := range []string{"", "@", "/run/concert.sock", "pipe"} {
		c := resolver(t, "0.0.0.0/0,::/0").Resolve(remote, chain("203.0.113.9"))
		if c != (Client{}) {
			t.Errorf("%q: got %+v, want the zero Client", remote, c)
		}
		if got := FormatKey(c.Key); got != "-" {
			t.Errorf("%q: key %q", remote, got)
		}
	}
}

func TestEntriesThatAreNoAddress(t *testing.T) {
	for _, s := range []string{
		"", "unknown", "_x", "203.0.113.9:", "203.0.113.9:x", "203.0.113.9:65536", "203.0.113.9:-1", "203.0.113.9:000080",
		"[203.0.113.9]", "[203.0.113.9]:80", "[2001:db8::1", "2001:db8::1]", "[2001:db8::1]80", "[2001:db8::1]:", "[]", "[]:80",
		"203.0.113.9%eth0", "fe80::1%", "[fe80::1%]", "%eth0", "[[::1]]", "1.2.3", "0x7f000001", "127.1", "::1::", " ::1",
		`"203.0.113.9"`, "for=203.0.113.9",
	} {
		if a, ok := parseEntry(s); ok {
			t.Errorf("parseEntry(%q) = %v, want none", s, a)
		}
	}
}

func TestKeyOfTheZeroAddress(t *testing.T) {
	if got := KeyOf(netip.Addr{}); got.IsValid() {
		t.Errorf("KeyOf(zero) = %v", got)
	}
	if got := FormatKey(netip.MustParsePrefix("10.0.0.0/8")); got != "10.0.0.0/8" {
		t.Errorf("FormatKey of a range = %q", got)
	}
}

func TestTwinsOfTheChainAreNotRead(t *testing.T) {
	h := http.Header{"X_forwarded_for": {"203.0.113.9"}, "X-Real-Ip": {"203.0.113.9"}, "Forwarded": {"for=203.0.113.9"}}
	if c := resolver(t, "127.0.0.1").Resolve(local, h); c.Addr != c.Peer {
		t.Errorf("the client is %v", c.Addr)
	}
}
