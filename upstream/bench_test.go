package upstream

import (
	"bufio"
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/internal/allocs"
	"github.com/andreimerlescu/concert/internal/cputime/cputest"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/pipeline/pipelinetest"
)

// sink is a ResponseWriter that costs nothing, so that what is measured is the
// proxy and its client.
type sink struct {
	header http.Header
	n      int
}

func (s *sink) Header() http.Header              { return s.header }
func (s *sink) WriteHeader(int)                  {}
func (s *sink) Write(p []byte) (int, error)      { s.n += len(p); return len(p), nil }
func (s *sink) FlushError() error                { return nil }
func (s *sink) SetReadDeadline(time.Time) error  { return nil }
func (s *sink) SetWriteDeadline(time.Time) error { return nil }

// pageOrigin answers every request with a page of that size, and allocates
// nothing meanwhile.
func pageOrigin(b testing.TB, size int) string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = ln.Close() })
	page := []byte("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nCache-Control: no-store\r\nContent-Length: " +
		itoa(size) + "\r\n\r\n" + strings.Repeat("x", size))
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go servePages(c, page)
		}
	}()
	return "http://" + ln.Addr().String()
}

// servePages ends when the connection does.
func servePages(c net.Conn, page []byte) {
	defer func() { _ = c.Close() }()
	r := bufio.NewReader(c)
	for {
		for { // the header, up to its empty line
			line, err := r.ReadSlice('\n')
			if err != nil {
				return
			}
			if len(line) == 2 {
				break
			}
		}
		if _, err := c.Write(page); err != nil {
			return
		}
	}
}

func itoa(n int) string { return string(appendInt(nil, n)) }

func appendInt(b []byte, n int) []byte {
	if n >= 10 {
		b = appendInt(b, n/10)
	}
	return append(b, byte('0'+n%10))
}

// bufferPool gives httputil.ReverseProxy what a tuned one has.
type bufferPool struct{ sync.Pool }

func (p *bufferPool) Get() []byte  { return p.Pool.Get().(*buffer)[:] }
func (p *bufferPool) Put(b []byte) { p.Pool.Put((*buffer)(b)) }

// tunedReverseProxy is the library's proxy with the same transport.
func tunedReverseProxy(b *testing.B, p *Proxy, origin string) http.Handler {
	u := mustURL(b, origin)
	pool := &bufferPool{}
	pool.New = func() any { return new(buffer) }
	return &httputil.ReverseProxy{
		Transport: p.transport, BufferPool: pool, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(u)
			r.Out.Host = r.In.Host
			r.SetXForwarded()
		},
	}
}

// BenchmarkProxy compares a page through this proxy with one through the
// library's; both in a pipeline-like setting without a server in front.
func BenchmarkProxy(b *testing.B) {
	for name, size := range map[string]int{"2K": 2 << 10, "64K": 64 << 10} {
		origin := pageOrigin(b, size)
		proxy, err := New(Config{
			Upstream: mustURL(b, origin), PreserveHost: true, MaxConns: 64, HeaderTimeout: 30 * time.Second,
			IdleTimeout: 60 * time.Second, BodyTimeout: 30 * time.Second, WriteTimeout: 30 * time.Second,
		})
		if err != nil {
			b.Fatal(err)
		}
		trust, err := clientip.ParseTrust("127.0.0.1")
		if err != nil {
			b.Fatal(err)
		}
		p := pipelinetest.New(b, pipeline.Config{Resolver: clientip.NewResolver(trust), Origin: proxy})
		b.Run("upstream/"+name, func(b *testing.B) { benchmark(b, p, size) })
		b.Run("httputil/"+name, func(b *testing.B) { benchmark(b, tunedReverseProxy(b, proxy, origin), size) })
		proxy.Close()
	}
}

func benchmark(b *testing.B, h http.Handler, size int) {
	b.ReportAllocs()
	r := browserRequest()
	b.SetParallelism(8) // a busy proxy: an idle one mostly pays for waking up
	cputest.Report(b, func() { ask(b, h, r, size) })
}

// ask has everybody ask at once.
func ask(b *testing.B, h http.Handler, r *http.Request, size int) {
	b.RunParallel(func(pb *testing.PB) {
		w := &sink{}
		for pb.Next() {
			ctx, cancel := context.WithCancel(context.Background())
			*w = sink{header: http.Header{}}
			h.ServeHTTP(w, r.WithContext(ctx))
			cancel()
			if w.n != size {
				b.Errorf("%d bytes of %d", w.n, size)
				return
			}
		}
	})
}

// TestPageAllocations holds the number of allocations for a page down.
func TestPageAllocations(t *testing.T) {
	const size, most = 1 << 10, 25
	p, err := New(Config{
		Upstream: mustURL(t, pageOrigin(t, size)), PreserveHost: true, HeaderTimeout: time.Minute, IdleTimeout: time.Minute, WriteTimeout: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if !ownClient {
		t.Skip("there is no client of our own here")
	}
	peer := netip.MustParseAddr("127.0.0.1")
	v := &pipeline.Visit{R: browserRequest(), Client: clientip.Client{Addr: peer, Peer: peer}}
	w := &sink{}
	n := allocs.PerRun(200, func() {
		*w = sink{header: http.Header{}}
		v.W = w
		if err := p.Serve(v); err != nil || w.n != size {
			t.Fatalf("%d bytes, %v", w.n, err)
		}
	})
	if n > most {
		t.Errorf("%v allocations for a page, want at most %d", n, most)
	}
}

// browserRequest is what a browser behind another proxy sends.
func browserRequest() *http.Request {
	r := httptest.NewRequest("GET", "http://site.example/page?a=1", nil)
	r.RequestURI = "/page?a=1"
	r.RemoteAddr = "127.0.0.1:1234"
	r.Header = http.Header{
		"User-Agent": {"Mozilla/5.0"}, "Accept": {"text/html"}, "Accept-Language": {"en"},
		"Accept-Encoding": {"gzip"}, "Cookie": {"a=1; concert_admit=x; b=2"}, "X-Forwarded-For": {"203.0.113.9"},
	}
	return r
}
