package ipinfo_test

import (
	"bytes"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"testing"

	"github.com/andreimerlescu/concert/internal/allocs"
	"github.com/andreimerlescu/concert/internal/parts"
	"github.com/andreimerlescu/concert/ipinfo"
	"github.com/andreimerlescu/concert/ipinfo/ipinfotest"
)

func TestLookupAllocatesNothing(t *testing.T) {
	tab, rows := generate(t, 1, 500, 500)
	i := 0
	if n := allocs.PerRun(1000, func() {
		tab.Lookup(rows[i%len(rows)].Last)
		i++
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

// TestMemory holds a database of the published size to its budget.
func TestMemory(t *testing.T) {
	const budget = 120 << 20
	if testing.Short() || parts.Raced() {
		t.Skip("loads 700,000 ranges")
	}
	var file bytes.Buffer
	if err := ipinfotest.WriteGzip(&file, ipinfotest.Rows(rand.New(rand.NewPCG(3, 1)), 500_000, 200_000)); err != nil {
		t.Fatal(err)
	}
	before := heap()
	tab, err := ipinfo.ReadTable(bytes.NewReader(file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	used := heap() - before
	runtime.KeepAlive(tab)
	if used > budget || used < int64(tab.Rows())*12 {
		t.Errorf("%d ranges take %d MB, want at most %d", tab.Rows(), used>>20, int64(budget)>>20)
	}
	t.Logf("%d ranges take %.1f MB", tab.Rows(), float64(used)/(1<<20))
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func BenchmarkLookup(b *testing.B) {
	tab, rows := generate(b, 1, 500_000, 200_000)
	r := rand.New(rand.NewPCG(1, 1))
	for name, part := range map[string][]ipinfotest.Row{"IPv4": rows[:500_000], "IPv6": rows[500_000:]} {
		b.Run(name, func(b *testing.B) {
			var addrs [1 << 16]netip.Addr
			for i := range addrs {
				addrs[i] = part[r.IntN(len(part))].Last
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, ok := tab.Lookup(addrs[i&(len(addrs)-1)]); !ok {
					b.Fatal("not found")
				}
			}
		})
	}
}

func BenchmarkReadTable(b *testing.B) {
	rows := ipinfotest.Rows(rand.New(rand.NewPCG(1, 1)), 500_000, 200_000)
	var file bytes.Buffer
	if err := ipinfotest.WriteGzip(&file, rows); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ipinfo.ReadTable(bytes.NewReader(file.Bytes())); err != nil {
			b.Fatal(err)
		}
	}
}
