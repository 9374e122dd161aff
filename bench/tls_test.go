package bench

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/andreimerlescu/concert/app"
	"github.com/andreimerlescu/concert/certs"
	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/internal/certtest"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

// tlsSite is a certificate and who made it.
type tlsSite struct {
	ca   *certtest.Authority
	pair certs.Pair
}

func newTLSSite(tb testing.TB) tlsSite {
	tb.Helper()
	ca := certtest.New(tb)
	cert, key := ca.Issue(tb, certtest.Names("site.test", "127.0.0.1")).Write(tb, tb.TempDir(), "site")
	return tlsSite{ca, certs.Pair{Cert: cert, Key: key}}
}

// BenchmarkTLSHandshake is what a new connection costs both sides together,
// without a network: a full handshake with an ECDSA certificate, and one that
// goes on from a session ticket.
func BenchmarkTLSHandshake(b *testing.B) {
	site := newTLSSite(b)
	m := certs.New(certs.Options{})
	p, err := m.Plan(certs.Config{Files: []certs.Pair{site.pair}})
	if err != nil {
		b.Fatal(err)
	}
	m.Use(p)
	mem := rawtest.NewMemory()
	defer mem.Close()
	go answerAll(m.Listener(mem)) // ends with mem
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		for _, resumed := range []bool{false, true} {
			name := tls.VersionName(version) + "/full"
			c := &tls.Config{ServerName: "site.test", RootCAs: site.ca.Pool(), MaxVersion: version}
			if resumed {
				name = tls.VersionName(version) + "/resumed"
				c.ClientSessionCache = tls.NewLRUClientSessionCache(1)
			}
			b.Run(name, func(b *testing.B) {
				shake(b, mem, c) // the first brings the ticket
				b.ReportAllocs()
				for b.Loop() {
					if got := shake(b, mem, c); got != resumed {
						b.Fatalf("resumed: %v", got)
					}
				}
			})
		}
	}
}

// answerAll shakes hands and says one byte.
func answerAll(ln net.Listener) {
	for {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		go func() { // ends with the connection
			defer c.Close()
			_, _ = c.Write([]byte("!")) // begins with the handshake; the client looks at what comes
		}()
	}
}

func shake(b *testing.B, mem *rawtest.Memory, c *tls.Config) (resumed bool) {
	b.Helper()
	raw, err := mem.Dial(b.Context(), "", "")
	if err != nil {
		b.Fatal(err)
	}
	defer raw.Close()
	conn := tls.Client(raw, c)
	if _, err := conn.Read(make([]byte, 1)); err != nil {
		b.Fatal(err)
	}
	return conn.ConnectionState().DidResume
}

// BenchmarkTLSRequest is a page on a connection that is kept, client and
// network included: plain, by HTTP/1.1 over TLS, and by HTTP/2.
func BenchmarkTLSRequest(b *testing.B) {
	site := newTLSSite(b)
	secured := []string{"-tls-cert", site.pair.Cert, "-tls-key", site.pair.Key}
	for _, how := range []struct {
		name, scheme string
		flags        []string
		h2           bool
	}{{"plain", "http", nil, false}, {"h1", "https", secured, false}, {"h2", "https", secured, true}} {
		b.Run(how.name, func(b *testing.B) {
			addr := serveApp(b, how.flags...)
			t := &http.Transport{ForceAttemptHTTP2: how.h2, TLSClientConfig: &tls.Config{RootCAs: site.ca.Pool()}, MaxIdleConnsPerHost: 64}
			defer t.CloseIdleConnections()
			client := &http.Client{Transport: t}
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					resp, err := client.Get(how.scheme + "://" + addr + "/page")
					if err != nil {
						b.Error(err)
						return
					}
					_, _ = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
					if major := resp.ProtoMajor; resp.StatusCode != http.StatusOK || (major == 2) != how.h2 {
						b.Errorf("status %d over %s", resp.StatusCode, resp.Proto)
						return
					}
				}
			})
		})
	}
}

// serveApp serves on a free port until the benchmark ends, and returns where.
func serveApp(b *testing.B, flags ...string) string {
	b.Helper()
	loaded, err := config.Load(append([]string{"-access-log=false", "-history=false", "-data-dir="}, flags...), nil)
	if err != nil {
		b.Fatal(err)
	}
	a, err := app.New(loaded.Config, app.Options{Origin: instant{}})
	if err != nil {
		b.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- a.Serve(ctx, ln) }() // ends with ctx
	b.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			b.Error(err)
		}
	})
	return ln.Addr().String()
}
