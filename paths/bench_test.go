package paths

import (
	"fmt"
	"strings"
	"testing"

	"github.com/andreimerlescu/concert/internal/allocs"
)

// busy is a table with dozens of entries, as a large shop has.
func busy(t testing.TB) *Table[class] {
	var assets, bans []string
	for i := range 24 {
		assets = append(assets, fmt.Sprintf("/theme-%d/assets/*", i))
		bans = append(bans, fmt.Sprintf("/backup-%d.zip", i), fmt.Sprintf("/.secret%d/*", i))
	}
	return build(t, map[string]string{
		"-bypass": "/favicon.ico, /robots.txt", "-assets": "/css/*," + strings.Join(assets, ","),
		"-ban-paths": "/.env, /.git/*," + strings.Join(bans, ","),
	})
}

var usual = []struct{ name, target string }{
	{"page", "/category/shoes/item-4711?size=42&colour=red"},
	{"asset", "/theme-7/assets/js/app.3f9c2.js"},
	{"capitals", "/Category/Shoes/Item-4711"},
	{"ban", "/.git/config"},
	{"exact", "/favicon.ico"},
}

func TestUsualPathsAllocateNothing(t *testing.T) {
	table := busy(t)
	for _, u := range usual {
		if n := allocs.PerRun(1000, func() {
			p := Canonical(u.target)
			Reserved(p)
			table.Lookup(p)
		}); n != 0 {
			t.Errorf("%s %s: %v allocations", u.name, u.target, n)
		}
	}
}

func TestLookupAllocatesNothingWhateverThePath(t *testing.T) {
	table := busy(t)
	for _, target := range []string{"/a//b", "/css%2Fa.css", "/CSS/../.env", "/" + strings.Repeat("A", 5000)} {
		p := Canonical(target)
		if n := allocs.PerRun(1000, func() {
			Reserved(p)
			table.Lookup(p)
		}); n != 0 {
			t.Errorf("%.20s: %v allocations", target, n)
		}
	}
}

func BenchmarkClassify(b *testing.B) {
	table := busy(b)
	for _, u := range usual {
		b.Run(u.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p := Canonical(u.target)
				Reserved(p)
				table.Lookup(p)
			}
		})
	}
}

func BenchmarkCanonical(b *testing.B) {
	for _, bm := range []struct{ name, target string }{
		{"plain", usual[0].target},
		{"encoded UTF-8", "/kategorie/%E3%82%B7%E3%83%A7%E3%83%BC%E3%83%84"},
		{"doubled slash", "/a//b"},
		{"encoded address", "/r/https%3A%2F%2Fexample.com"},
		{"worst of 250 bytes", "/" + strings.Repeat(`//..%2F%5c;a.%00%23%2541/`, 10)},
		{"refused, 8 KiB", "/" + strings.Repeat("%2F%2541;a.../%2F/", 450)},
	} {
		b.Run(bm.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Canonical(bm.target)
			}
		})
	}
}

func BenchmarkLookup(b *testing.B) {
	table := busy(b)
	for _, u := range usual {
		p := Canonical(u.target)
		b.Run(u.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				table.Lookup(p)
			}
		})
	}
}
