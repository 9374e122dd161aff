package clientip

import (
	"net/http"
	"testing"

	"github.com/andreimerlescu/concert/internal/allocs"
)

// browser is a usual request through two proxies, one of which kept its own line.
func browser() http.Header {
	return http.Header{
		"Accept": {"text/html"}, "Accept-Encoding": {"gzip, br"}, "Accept-Language": {"en"}, "Cookie": {"a=1"},
		"Cache-Control": {"no-cache"}, "Referer": {"https://shop.example/"}, "User-Agent": {"Mozilla/5.0"},
		"Sec-Fetch-Dest": {"document"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Site": {"same-origin"},
		"X-Forwarded-For": {"198.51.100.1, 203.0.113.9", "10.0.0.1, [2001:db8::1]:443"}, "X-Forwarded-Proto": {"https"},
	}
}

const proxies = "127.0.0.1, ::1, 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 2001:db8::/32"

func TestResolvingAllocatesNothing(t *testing.T) {
	rs, h := resolver(t, proxies), browser()
	if n := allocs.PerRun(1000, func() { rs.Resolve(local, h) }); n != 0 {
		t.Errorf("a chain of four entries: %v allocations", n)
	}
	zoned := chain("fe80::1%eth0")
	if n := allocs.PerRun(1000, func() { rs.Resolve("[fe80::2%eth1]:80", zoned) }); n != 0 {
		t.Errorf("zoned addresses: %v allocations", n)
	}
}

func TestStrippingAllocatesNothing(t *testing.T) {
	h := browser()
	if n := allocs.PerRun(1000, func() { strip(h, true) }); n != 0 {
		t.Errorf("trusted peer: %v allocations", n)
	}
	strip(h, false)
	line := []string{"evil"}
	if n := allocs.PerRun(1000, func() {
		h["X_forwarded_for"] = line
		strip(h, false)
	}); n != 0 {
		t.Errorf("untrusted peer: %v allocations", n)
	}
}

func BenchmarkResolve(b *testing.B) {
	rs := resolver(b, proxies)
	for _, bm := range []struct {
		name, remote string
		h            http.Header
	}{
		{"direct", "203.0.113.9:4711", browser()},
		{"one proxy", local, chain("203.0.113.9")},
		{"four entries, two lines", local, browser()},
	} {
		b.Run(bm.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				rs.Resolve(bm.remote, bm.h)
			}
		})
	}
}

func BenchmarkStrips(b *testing.B) {
	h := browser()
	b.ReportAllocs()
	for b.Loop() {
		strip(h, true)
	}
}

func BenchmarkForwarded(b *testing.B) {
	rs := resolver(b, proxies)
	h := browser()
	c := rs.Resolve(local, h)
	b.ReportAllocs()
	for b.Loop() {
		ForwardedFor(h, c)
		ForwardedProto(h, c, "https")
	}
}
