package abuse

import (
	"errors"
	"net/netip"
	"testing"
)

func TestParseClient(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if p, err := ParseClient(text); err != nil || p.String() != want {
			t.Errorf("%q: %v, %v; want %s", text, p, err, want)
		}
	}
	f("203.0.113.9", "203.0.113.9/32")
	f(" 203.0.113.9 ", "203.0.113.9/32")
	f("10.1.2.3/16", "10.1.0.0/16")
	f("10.1.2.3/8", "10.0.0.0/8")
	f("::ffff:203.0.113.9", "203.0.113.9/32")
	f("::ffff:10.1.2.3/112", "10.1.0.0/16")
	f("2001:db8:1:2::9", "2001:db8:1:2::/64")
	f("2001:db8:1:2:3::/80", "2001:db8:1:2::/64")
	f("2001:db8:1:2::/64", "2001:db8:1:2::/64")
	f("2001:db8:1:3::/63", "2001:db8:1:2::/63")
	f("2001:db8::/16", "2001::/16")
}

func TestParseClientRefuses(t *testing.T) {
	f := func(text string, want error) {
		t.Helper()
		if p, err := ParseClient(text); !errors.Is(err, want) {
			t.Errorf("%q: %v, %v; want %v", text, p, err, want)
		}
	}
	f("", ErrBadClient)
	f("example.com", ErrBadClient)
	f("203.0.113.9/33", ErrBadClient)
	f("203.0.113.9/", ErrBadClient)
	f("203.0.113.9:80", ErrBadClient)
	f("fe80::1%eth0", ErrBadClient)
	f("fe80::%eth0/64", ErrBadClient)
	f("0.0.0.0/0", ErrTooBroad)
	f("10.0.0.0/7", ErrTooBroad)
	f("2001::/15", ErrTooBroad)
	f("::/0", ErrTooBroad)
	f("::ffff:10.0.0.0/95", ErrTooBroad)
	f("::ffff:10.0.0.0/103", ErrTooBroad)
}

func TestCanonicalIsItsOwnCanonical(t *testing.T) {
	if _, err := Canonical(netip.Prefix{}); !errors.Is(err, ErrBadClient) {
		t.Errorf("the zero prefix: %v", err)
	}
	for _, text := range []string{"10.1.2.3/9", "203.0.113.9", "2001:db8:1:2:3::9", "2001:db8::/33"} {
		p := client(t, text)
		if again, err := Canonical(p); err != nil || again != p {
			t.Errorf("%v becomes %v, %v", p, again, err)
		}
		if isRange(p) == (idOf(p.Addr()) == idOf(lastOf(p))) {
			t.Errorf("%v: range %v, but its first and last address say otherwise", p, isRange(p))
		}
	}
}

// lastOf is the highest address of a prefix.
func lastOf(p netip.Prefix) netip.Addr {
	b := p.Addr().AsSlice()
	for bit := p.Bits(); bit < 8*len(b); bit++ {
		b[bit/8] |= 0x80 >> (bit % 8)
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}

// The look-up must not take the IPv4 address 0.0.0.1 for the network ::/64.
func TestFamiliesDoNotMix(t *testing.T) {
	r := registry(t, config())
	order(t, r, "0.0.0.0", 0, start)
	if r.Lookup(addr("::1"), start) != nil {
		t.Error("an IPv6 client is banned for an IPv4 one")
	}
	if r.Lookup(addr("::ffff:0.0.0.0"), start) == nil || r.Lookup(addr("0.0.0.0"), start) == nil {
		t.Error("the banned client is not banned in every form of its address")
	}
}
