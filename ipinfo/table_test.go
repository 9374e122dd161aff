package ipinfo_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/ipinfo"
	"github.com/andreimerlescu/concert/ipinfo/ipinfotest"
)

const sample = "1.0.0.0\t1.0.0.255\t64496\tLT\tUAB Example\n" +
	"1.0.1.0\t1.0.3.9\t64497\tDE\tExample GmbH\n" +
	"1.0.4.0\t1.0.255.255\t0\tNone\tNot routed\n" +
	"9.0.0.0\t9.255.255.255\t0\tUnknown\t\n" +
	"224.0.0.0\t255.255.255.255\t7\tZZ\tReserved\n" +
	"2001:db8::\t2001:db8:ffff:ffff:ffff:ffff:ffff:ffff\t64498\tFR\tExemple SARL\n" +
	"ff00::\tffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff\t8\tUS\tLast\n"

func table(t testing.TB, text string) *ipinfo.Table {
	t.Helper()
	tab, err := ipinfo.ReadTable(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func TestLookup(t *testing.T) {
	tab := table(t, sample)
	f := func(addr, want string) {
		t.Helper()
		got := "-"
		if d, ok := tab.Lookup(netip.MustParseAddr(addr)); ok {
			got = fmt.Sprint(d.Addr, " ", d.ASNText(), " ", d.Code, " ", d.Country(), " ", d.Description, " ", d.Range())
		}
		if got != want {
			t.Errorf("%s: %s, want %s", addr, got, want)
		}
	}
	f("1.0.0.0", "1.0.0.0 AS64496 LT Lithuania UAB Example 1.0.0.0/24")
	f("1.0.0.255", "1.0.0.255 AS64496 LT Lithuania UAB Example 1.0.0.0/24")
	f("::ffff:1.0.0.9", "1.0.0.9 AS64496 LT Lithuania UAB Example 1.0.0.0/24")
	f("1.0.3.9", "1.0.3.9 AS64497 DE Germany Example GmbH 1.0.1.0-1.0.3.9")
	f("1.0.3.10", "-")
	f("1.0.9.9", "1.0.9.9  None Unknown Not routed 1.0.4.0-1.0.255.255")
	f("9.1.1.1", "9.1.1.1  None Unknown  9.0.0.0/8")
	f("0.255.255.255", "-")
	f("255.255.255.255", "255.255.255.255 AS7 ZZ Reserved Reserved 224.0.0.0/3")
	f("2001:db8:1::1", "2001:db8:1::1 AS64498 FR France Exemple SARL 2001:db8::/32")
	f("2001:db8::%eth0", "2001:db8:: AS64498 FR France Exemple SARL 2001:db8::/32")
	f("2001:db9::", "-")
	f("::", "-")
	f("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff AS8 US United States Last ff00::/8")
	if _, ok := tab.Lookup(netip.Addr{}); ok {
		t.Error("the zero address has an owner")
	}
}

func TestRangeOfEverything(t *testing.T) {
	tab := table(t, "0.0.0.0\t255.255.255.255\t1\tUS\tA\n::\tffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff\t1\tUS\tA\n")
	for addr, want := range map[string]string{"7.7.7.7": "0.0.0.0/0", "7::": "::/0"} {
		if d, _ := tab.Lookup(netip.MustParseAddr(addr)); d.Range() != want {
			t.Errorf("%s: range %s, want %s", addr, d.Range(), want)
		}
	}
}

func TestIPv8(t *testing.T) {
	tab := table(t, "1.0.1.0\t1.0.3.9\t64497\tDE\tA\n45.138.12.0\t45.138.12.255\t218785\tLT\tB\n2001:db8::\t2001:db8::9\t1\tFR\tC\n")
	f := func(addr string, want ...string) {
		t.Helper()
		d, _ := tab.Lookup(netip.MustParseAddr(addr))
		if got := []string{d.IPv8(), d.ASNDot(), d.IPv8Range(), d.ASNDotRange()}; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %q, want %q", addr, got, want)
		}
	}
	f("45.138.12.24", "0.3.86.161.45.138.12.24", "218785.45.138.12.24", "0.3.86.161.45.138.12.0/56", "218785.45.138.12.0/24")
	f("1.0.1.1", "0.0.251.241.1.0.1.1", "64497.1.0.1.1", "0.0.251.241.1.0.1.0-0.0.251.241.1.0.3.9", "64497.1.0.1.0-64497.1.0.3.9")
	f("2001:db8::1", "", "", "", "")
}

func TestFlags(t *testing.T) {
	f := func(code, flag, name string) {
		t.Helper()
		if got := ipinfo.Flag(code); got != flag {
			t.Errorf("flag of %q: %s, want %s", code, got, flag)
		}
		if got := ipinfo.CountryName(code); got != name {
			t.Errorf("name of %q: %s, want %s", code, got, name)
		}
	}
	f("LT", "🇱🇹", "Lithuania")
	f("ZW", "🇿🇼", "Zimbabwe")
	f("AA", "🇦🇦", "AA")
	f("ZZ", "🏳️", "Reserved")
	f("None", "🌐", "Unknown")
	f("", "🌐", "Unknown")
	f("l<", "🌐", "l<")
}

func TestReadRefuses(t *testing.T) {
	good := "1.0.0.0\t1.0.0.255\t64496\tLT\tUAB Example\n"
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write([]byte(strings.Repeat(good, 1)))
	_ = z.Close()
	cut := zipped.String()[:zipped.Len()-9]
	f := func(name, text, want string) {
		t.Helper()
		tab, err := ipinfo.ReadTable(strings.NewReader(text))
		if err == nil || !strings.Contains(err.Error(), want) || tab != nil {
			t.Errorf("%s: %v, want an error with %q", name, err, want)
		}
	}
	f("nothing", "", "no ranges")
	f("zipped nothing", "\x1f\x8b", "gzip")
	f("truncated gzip", cut, "unexpected EOF")
	f("blank line", good+"\n", "line 2: want 5 columns")
	f("no description", good+"2.0.0.0\t2.0.0.1\t1\tUS\n", "line 2: want 5 columns")
	f("sixth column", "1.0.0.0\t1.0.0.255\t1\tUS\tA\tB\n", "5 columns")
	f("bad address", "1.0.0\t1.0.0.255\t1\tUS\tA\n", `"1.0.0" is no address`)
	f("bad last address", "1.0.0.0\t1.0.0.256\t1\tUS\tA\n", "is no address")
	f("zone", "fe80::%a\tfe80::1\t1\tUS\tA\n", "is no address")
	f("mixed", "1.0.0.0\t::2\t1\tUS\tA\n", "mixes")
	f("reversed", "1.0.0.9\t1.0.0.1\t1\tUS\tA\n", "reversed")
	f("overlap", good+"1.0.0.255\t1.0.1.0\t1\tUS\tA\n", "line 2: range 1.0.0.255 to 1.0.1.0 overlaps")
	f("unsorted", "2.0.0.0\t2.0.0.1\t1\tUS\tA\n"+good, "out of order")
	f("overlap of IPv6", "2001::\t2001::2\t1\tUS\tA\n2001::2\t2001::3\t1\tUS\tA\n", "overlaps")
	f("negative number", "1.0.0.0\t1.0.0.1\t-1\tUS\tA\n", "AS number")
	f("33-bit number", "1.0.0.0\t1.0.0.1\t4294967296\tUS\tA\n", "AS number")
	f("small letters", "1.0.0.0\t1.0.0.1\t1\tus\tA\n", "country")
	f("no country", "1.0.0.0\t1.0.0.1\t1\t\tA\n", "country")
	f("long line", good+"2.0.0.0\t2.0.0.1\t1\tUS\t"+strings.Repeat("x", 70_000)+"\n", "line 2: longer")
	f("another format", "<html>not found</html>", "columns")
}

func TestReadAccepts(t *testing.T) {
	tab := table(t, "::1\t::2\t1\tUS\tno newline, \x1b[31m \xff tabs aside\r\n1.0.0.0\t1.0.0.1\t1\tUS\tA")
	if tab.Rows() != 2 {
		t.Errorf("%d rows, want 2", tab.Rows())
	}
	if d, _ := tab.Lookup(netip.MustParseAddr("::2")); d.Description != "no newline,  [31m \uFFFD tabs aside" {
		t.Errorf("description %q", d.Description)
	}
}

// linear is the look-up as anybody would write it.
func linear(rows []ipinfotest.Row, a netip.Addr) (ipinfotest.Row, bool) {
	for _, r := range rows {
		if r.First.BitLen() == a.BitLen() && !a.Less(r.First) && !r.Last.Less(a) {
			return r, true
		}
	}
	return ipinfotest.Row{}, false
}

func compare(t *testing.T, tab *ipinfo.Table, rows []ipinfotest.Row, a netip.Addr) {
	t.Helper()
	got, ok := tab.Lookup(a)
	want, found := linear(rows, a)
	if ok != found || found && (got.First != want.First || got.Last != want.Last || got.ASN != want.ASN ||
		got.Code != want.Code || got.Description != want.Description) {
		t.Fatalf("%s: %+v, want %+v", a, got, want)
	}
}

func generate(t testing.TB, seed uint64, n4, n6 int) (*ipinfo.Table, []ipinfotest.Row) {
	t.Helper()
	rows := ipinfotest.Rows(rand.New(rand.NewPCG(seed, 1)), n4, n6)
	var file bytes.Buffer
	if err := ipinfotest.Write(&file, rows); err != nil {
		t.Fatal(err)
	}
	tab, err := ipinfo.ReadTable(&file)
	if err != nil {
		t.Fatal(err)
	}
	return tab, rows
}

func TestLookupAgreesWithLinearScan(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 2))
		tab, rows := generate(t, seed, 1+r.IntN(200), 1+r.IntN(200))
		for range 200 {
			row := rows[r.IntN(len(rows))]
			for _, a := range []netip.Addr{row.First, row.First.Prev(), row.Last, row.Last.Next()} {
				compare(t, tab, rows, a)
			}
		}
	}
}
