package clientip

import (
	"net/netip"
	"strings"
	"testing"
)

func mustTrust(t testing.TB, list string) *Trust {
	t.Helper()
	trust, err := ParseTrust(list)
	if err != nil {
		t.Fatalf("ParseTrust(%q): %v", list, err)
	}
	return trust
}

func TestParseTrustReadsNetworksAndAddresses(t *testing.T) {
	for _, tt := range []struct{ name, list, want string }{
		{"nothing", "", ""},
		{"blanks are skipped", " , 10.0.0.0/8 ,, ", "10.0.0.0/8"},
		{"bare addresses", "127.0.0.1,::1", "127.0.0.1/32,::1/128"},
		{"host bits are masked", "10.1.2.3/8, 2001:db8::5/32", "10.0.0.0/8,2001:db8::/32"},
		{"IPv4-mapped address", "::ffff:192.0.2.1", "192.0.2.1/32"},
		{"IPv4-mapped network", "::ffff:10.0.0.0/104", "10.0.0.0/8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			trust := mustTrust(t, tt.list)
			if got := trust.String(); got != tt.want {
				t.Errorf("ParseTrust(%q) = %q, want %q", tt.list, got, tt.want)
			}
			if again := mustTrust(t, trust.String()).String(); again != tt.want {
				t.Errorf("read back: %q, want %q", again, tt.want)
			}
		})
	}
}

func TestParseTrustNamesEveryBadEntry(t *testing.T) {
	bad := []string{"10.0.0.0/33", "localhost", "10.0.0.1:80", "fe80::1%eth0", "::ffff:0:0/90", "1.2.3"}
	_, err := ParseTrust("127.0.0.1," + strings.Join(bad, ","))
	if err == nil {
		t.Fatal("bad entries were accepted")
	}
	for _, entry := range bad {
		if !strings.Contains(err.Error(), `"`+entry+`"`) {
			t.Errorf("error does not name %q: %v", entry, err)
		}
	}
	if strings.Contains(err.Error(), `"127.0.0.1"`) {
		t.Errorf("error names a good entry: %v", err)
	}
}

func TestTrustContains(t *testing.T) {
	trust := mustTrust(t, "10.0.0.0/8, 10.1.0.0/16, 192.0.2.7, 192.0.2.8, 2001:db8::/32, ::1")
	for _, tt := range []struct {
		addr string
		want bool
	}{
		{"10.0.0.0", true}, {"10.255.255.255", true}, {"10.2.3.4", true}, {"10.1.255.255", true},
		{"9.255.255.255", false}, {"11.0.0.0", false},
		{"192.0.2.6", false}, {"192.0.2.7", true}, {"192.0.2.8", true}, {"192.0.2.9", false},
		{"::ffff:10.9.9.9", true}, {"::ffff:11.0.0.1", false},
		{"2001:db8::1", true}, {"2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", true}, {"2001:db9::", false},
		{"2001:db8::1%eth0", true}, {"::1", true}, {"::2", false}, {"255.255.255.255", false}, {"::", false},
	} {
		if got := trust.Contains(netip.MustParseAddr(tt.addr)); got != tt.want {
			t.Errorf("Contains(%s) = %v, want %v", tt.addr, got, tt.want)
		}
	}
}

func TestEmptyTrustHoldsNobody(t *testing.T) {
	var none *Trust
	for _, trust := range []*Trust{none, mustTrust(t, "")} {
		if trust.Contains(netip.MustParseAddr("127.0.0.1")) || trust.Contains(netip.Addr{}) {
			t.Error("an empty set holds an address")
		}
		if trust.String() != "" || len(trust.Prefixes()) != 0 {
			t.Error("an empty set lists networks")
		}
	}
	if mustTrust(t, "0.0.0.0/0,::/0").Contains(netip.Addr{}) {
		t.Error("the zero address is in the set of everything")
	}
}
