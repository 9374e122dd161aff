// Package ipinfotest makes IPtoASN databases that look like the real one, for
// tests and benchmarks: sorted ranges of mixed sizes with gaps between them,
// most of them prefixes, many ranges for few owners, some not routed. Nothing
// in them is anybody's.
//
// # Usage
//
//	rows := ipinfotest.Rows(rand.New(rand.NewPCG(1, 2)), 500_000, 200_000)
//	err := ipinfotest.WriteGzip(file, rows)
//
// # Concurrency and limits
//
// The functions share no state. The same generator state gives the same rows.
package ipinfotest

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net/netip"
)

// Row is one line of a database.
type Row struct {
	First, Last netip.Addr // inclusive
	ASN         uint32     // 0: not routed
	Code        string     // as the column spells it: LT, ZZ, None
	Description string
}

// Rows returns n4 IPv4 ranges followed by n6 IPv6 ranges, each family sorted and
// without overlaps. n4 is at most 5,000,000 and n6 at most 100,000,000.
func Rows(r *rand.Rand, n4, n6 int) []Row {
	owners := makeOwners(r, 1+(n4+n6)/9)
	rows := make([]Row, 0, n4+n6)
	step := uint64(0xDF00_0000) / uint64(n4+1) // 1.0.0.0 to 224.0.0.0
	for i := range n4 {
		first, last := between(r, 0x0100_0000+uint64(i)*step, step)
		rows = append(rows, pick(r, owners, addr4(first), addr4(last)))
	}
	step = uint64(0x0FFF_0000_0000_0000) / uint64(n6+1) // 2001:: to 3000::
	for i := range n6 {
		first, last := between(r, 0x2001_0000_0000_0000+uint64(i)*step, step)
		rows = append(rows, pick(r, owners, addr6(first, 0), addr6(last, ^uint64(0))))
	}
	return rows
}

// between returns a range within [base, base+size): usually an aligned block,
// sometimes any two numbers.
func between(r *rand.Rand, base, size uint64) (first, last uint64) {
	if r.IntN(8) > 0 {
		block := uint64(1)
		for block*4 <= size && r.IntN(16) > 0 {
			block *= 2
		}
		first = (base + block - 1) / block * block
		return first, first + block - 1
	}
	first = base + r.Uint64N(size)
	return first, first + r.Uint64N(base+size-first)
}

func makeOwners(r *rand.Rand, n int) []Row {
	codes := []string{"US", "DE", "LT", "BR", "IN", "CN", "FR", "GB", "ZA", "AU", "JP", "ZZ"}
	owners := []Row{{Code: "None", Description: "Not routed"}}
	for range n {
		asn := 1 + r.Uint32N(400_000)
		owners = append(owners, Row{
			ASN: asn, Code: codes[r.IntN(len(codes))],
			Description: fmt.Sprintf("EXAMPLE-%d Example Networks No. %d", asn, r.IntN(1000)),
		})
	}
	return owners
}

func pick(r *rand.Rand, owners []Row, first, last netip.Addr) Row {
	row := owners[r.IntN(len(owners))]
	row.First, row.Last = first, last
	return row
}

func addr4(n uint64) netip.Addr {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], uint32(n))
	return netip.AddrFrom4(b)
}

func addr6(hi, lo uint64) netip.Addr {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], hi)
	binary.BigEndian.PutUint64(b[8:], lo)
	return netip.AddrFrom16(b)
}

// Write writes the rows as plain text.
func Write(w io.Writer, rows []Row) error {
	out := bufio.NewWriter(w)
	for _, row := range rows {
		fmt.Fprintf(out, "%s\t%s\t%d\t%s\t%s\n", row.First, row.Last, row.ASN, row.Code, row.Description)
	}
	return out.Flush()
}

// WriteGzip writes the rows compressed.
func WriteGzip(w io.Writer, rows []Row) error {
	z := gzip.NewWriter(w)
	if err := Write(z, rows); err != nil {
		return err
	}
	return z.Close()
}
