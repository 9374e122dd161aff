package ipinfo_test

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/ipinfo"
)

func FuzzLookup(f *testing.F) {
	f.Add(uint64(1), uint8(3), uint8(3), []byte{1, 2, 3, 4})
	f.Add(uint64(2), uint8(200), uint8(0), bytes.Repeat([]byte{0x20}, 16))
	f.Fuzz(func(t *testing.T, seed uint64, n4, n6 uint8, addr []byte) {
		if n4 == 0 && n6 == 0 {
			return
		}
		if a, ok := netip.AddrFromSlice(addr); ok {
			tab, rows := generate(t, seed, int(n4), int(n6))
			compare(t, tab, rows, a.Unmap())
		}
	})
}

// FuzzReadTable: whatever is read can be looked up, and says what its own rows
// say when written out again.
func FuzzReadTable(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte("1.0.0.0\t1.0.0.255\t64496\tLT\tUAB\r\n::ffff:1.2.3.4\t::ffff:1.2.3.5\t1\tUS\tA"))
	f.Add([]byte("\x1f\x8b\x08"))
	f.Fuzz(func(t *testing.T, file []byte) {
		tab, err := ipinfo.ReadTable(bytes.NewReader(file))
		if err != nil {
			return
		}
		rows := 0
		for line := range bytes.Lines(file) {
			first, _, _ := bytes.Cut(line, []byte("\t"))
			a, err := netip.ParseAddr(string(first))
			if err != nil {
				return // it was gzip
			}
			rows++
			d, ok := tab.Lookup(a)
			if mapped := a != a.Unmap(); !ok && !mapped || ok && !mapped && d.First != a {
				t.Fatalf("%s: %+v, %v", a, d, ok)
			}
			if _, err := netip.ParsePrefix(d.Range()); ok && err != nil && !strings.Contains(d.Range(), "-") {
				t.Fatalf("%s: range %q", a, d.Range())
			}
		}
		if rows != tab.Rows() {
			t.Fatalf("%d rows of %d lines", tab.Rows(), rows)
		}
	})
}
