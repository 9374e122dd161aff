package listener

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
)

// v2 writes a header of version 2.
func v2(command, family byte, payload ...byte) string {
	b := append([]byte(signatureV2), command, family)
	b = binary.BigEndian.AppendUint16(b, uint16(len(payload)))
	return string(append(b, payload...))
}

// addrs4 are addresses and ports for v2, from 203.0.113.9:4711.
func addrs4(tlvs ...byte) []byte {
	return append([]byte{203, 0, 113, 9, 192, 0, 2, 1, 0x12, 0x67, 0x01, 0xbb}, tlvs...)
}

func addrs6(first netip.Addr, tlvs ...byte) []byte {
	a := first.As16()
	return append(append(append(a[:], a[:]...), 0x12, 0x67, 0x01, 0xbb), tlvs...)
}

func TestReadProxyHeader(t *testing.T) {
	ok := func(header, want string) {
		t.Helper()
		const request = "GET / HTTP/1.1\r\n\r\n"
		for name, r := range map[string]io.Reader{
			"at once": strings.NewReader(header + request), "byte by byte": iotest.OneByteReader(strings.NewReader(header + request)),
		} {
			client, rest, err := readProxyHeader(r)
			left, _ := io.ReadAll(r)
			got := ""
			if client.IsValid() {
				got = client.String()
			}
			if err != nil || got != want || string(rest)+string(left) != request {
				t.Errorf("%q %s: %q, %q then %q, %v; want %q and the request", header, name, got, rest, left, err, want)
			}
		}
	}
	bad := func(header string) {
		t.Helper()
		if client, _, err := readProxyHeader(strings.NewReader(header)); !errors.Is(err, errProxyHeader) || client.IsValid() {
			t.Errorf("%q: %v, %v; want it called malformed", header, client, err)
		}
	}
	ok("PROXY TCP4 203.0.113.9 192.0.2.1 4711 443\r\n", "203.0.113.9:4711")
	ok("PROXY TCP6 2001:db8::1 2001:db8::2 4711 443\r\n", "[2001:db8::1]:4711")
	ok("PROXY TCP6 ::ffff:203.0.113.9 ::ffff:192.0.2.1 1 2\r\n", "203.0.113.9:1")
	ok("PROXY UNKNOWN\r\n", "")
	ok("PROXY UNKNOWN ffff::1 ffff::2 65535 65535\r\n", "")
	ok(v2(0x21, 0x11, addrs4()...), "203.0.113.9:4711")
	ok(v2(0x21, 0x11, addrs4(0x04, 0, 2, 'x', 'y')...), "203.0.113.9:4711")
	ok(v2(0x21, 0x11, addrs4(bytes.Repeat([]byte{7}, 60_000)...)...), "203.0.113.9:4711")
	ok(v2(0x21, 0x21, addrs6(netip.MustParseAddr("2001:db8::1"), 1, 2, 3)...), "[2001:db8::1]:4711")
	ok(v2(0x21, 0x21, addrs6(netip.MustParseAddr("::ffff:203.0.113.9"))...), "203.0.113.9:4711")
	ok(v2(0x20, 0x00), "")
	ok(v2(0x20, 0x11, addrs4()...), "") // LOCAL: addresses are to be ignored
	ok(v2(0x21, 0x00, 1, 2, 3), "")
	ok(v2(0x21, 0x12, addrs4()...), "")
	ok(v2(0x21, 0x31, bytes.Repeat([]byte{'/'}, 216)...), "")

	bad("GET / HTTP/1.1\r\n\r\n")
	bad("PROXY TCP4 203.0.113.9 192.0.2.1 4711\r\n")
	bad("PROXY TCP4 203.0.113.9 192.0.2.1 4711 443 1\r\n")
	bad("PROXY TCP4 203.0.113.9  192.0.2.1 4711 443\r\n")
	bad("PROXY TCP4 203.0.113.09 192.0.2.1 4711 443\r\n")
	bad("PROXY TCP4 2001:db8::1 2001:db8::2 4711 443\r\n")
	bad("PROXY TCP6 203.0.113.9 192.0.2.1 4711 443\r\n")
	bad("PROXY TCP6 fe80::1%eth0 fe80::2 4711 443\r\n")
	bad("PROXY TCP4 203.0.113.9 192.0.2.1 04711 443\r\n")
	bad("PROXY TCP4 203.0.113.9 192.0.2.1 65536 443\r\n")
	bad("PROXY TCP4 203.0.113.9 192.0.2.1 -1 443\r\n")
	bad("PROXY UDP4 203.0.113.9 192.0.2.1 4711 443\r\n")
	bad("PROXY tcp4 203.0.113.9 192.0.2.1 4711 443\r\n")
	bad("PROXY\r\n")
	bad("PROXY TCP4 203.0.113.9 192.0.2.1 4711 443\n")
	bad("PROXY UNKNOWN " + strings.Repeat("x", maxV1) + "\r\n")
	bad("PROXY TCP4 203.0.113.9 192.0.2.1 47")
	bad("\r\n\r\n\x00\r\nQUIX\n\x21\x11")
	bad(v2(0x11, 0x11, addrs4()...))
	bad(v2(0x22, 0x11, addrs4()...))
	bad(v2(0x21, 0x41, addrs4()...))
	bad(v2(0x21, 0x11, addrs4()[:11]...))
	bad(v2(0x21, 0x21, addrs4()...))
	bad(v2(0x21, 0x11, addrs4(1, 2, 3)...)[:30])
	if _, _, err := readProxyHeader(strings.NewReader("")); err != io.EOF {
		t.Errorf("nothing at all: %v, want EOF: a health check is no malformed header", err)
	}
}

// FuzzProxyHeader checks that a header is read the same in whatever pieces it
// comes, that nothing behind it is lost, and that what is accepted can be
// written down again.
func FuzzProxyHeader(f *testing.F) {
	f.Add([]byte("PROXY TCP4 203.0.113.9 192.0.2.1 4711 443\r\nGET / HTTP/1.1\r\n\r\n"), uint8(7))
	f.Add([]byte("PROXY TCP6 2001:db8::1 2001:db8::2 4711 443\r\n"), uint8(1))
	f.Add([]byte("PROXY UNKNOWN\r\nx"), uint8(3))
	f.Add([]byte(v2(0x21, 0x11, addrs4(1, 2, 3)...)+"tail"), uint8(16))
	f.Add([]byte(v2(0x21, 0x21, addrs6(netip.MustParseAddr("2001:db8::1"))...)), uint8(52))
	f.Add([]byte(v2(0x20, 0)), uint8(12))
	f.Fuzz(func(t *testing.T, b []byte, cut uint8) {
		at := min(int(cut), len(b))
		whole := bytes.NewReader(b)
		client, rest, err := readProxyHeader(whole)
		pieces := io.MultiReader(bytes.NewReader(b[:at]), bytes.NewReader(b[at:]))
		client2, rest2, err2 := readProxyHeader(pieces)
		if client != client2 || (err == nil) != (err2 == nil) {
			t.Fatalf("cut at %d: %v, %v; whole: %v, %v", at, client2, err2, client, err)
		}
		if err != nil {
			if client.IsValid() {
				t.Fatalf("%v came with %v", err, client)
			}
			return
		}
		after, _ := io.ReadAll(whole)
		after2, _ := io.ReadAll(pieces)
		rest, rest2 = append(rest, after...), append(rest2, after2...)
		if !bytes.Equal(rest, rest2) || !bytes.HasSuffix(b, rest) {
			t.Fatalf("what follows: %q or %q of %q", rest, rest2, b)
		}
		if !client.IsValid() {
			return
		}
		family := "TCP4"
		if client.Addr().Is6() {
			family = "TCP6"
		}
		again := fmt.Sprintf("PROXY %s %s %[2]s %d 443\r\n", family, client.Addr(), client.Port())
		if same, _, err := readProxyHeader(strings.NewReader(again)); err != nil || same != client {
			t.Fatalf("%q: %v, %v", again, same, err)
		}
	})
}

func TestAddressFromTheProxy(t *testing.T) {
	g := New(Config{MaxPerClient: 1, ProxyProtocol: true, Proxies: trust(t, "10.0.0.1")})
	from := func(header string) (string, error) {
		t.Helper()
		client, server := dial(t, g, "10.0.0.1")
		go func() { _, _ = io.WriteString(client, header+"hello") }() // ends with the pipe
		addr := server.RemoteAddr().String()
		b := make([]byte, 5)
		_, err := io.ReadFull(server, b)
		if err == nil && string(b) != "hello" {
			t.Errorf("%q: read %q behind the header", header, b)
		}
		return addr, err
	}
	if addr, err := from("PROXY TCP4 203.0.113.9 192.0.2.1 4711 443\r\n"); err != nil || addr != "203.0.113.9:4711" {
		t.Errorf("from %s, %v", addr, err)
	}
	if addr, err := from("PROXY UNKNOWN\r\n"); err != nil || addr != "10.0.0.1:4711" {
		t.Errorf("UNKNOWN: from %s, %v", addr, err)
	}
	if addr, err := from("PROXY nonsense\r\n"); !errors.Is(err, errProxyHeader) || addr != "10.0.0.1:4711" {
		t.Errorf("malformed: from %s, %v", addr, err)
	}
	if _, err := from("PROXY TCP4 203.0.113.9 192.0.2.1 4712 443\r\n"); err == nil {
		t.Error("a second connection of a client who may have one")
	}
	s := g.Stats()
	if s.Refused["proxy-header"] != 1 || s.Refused["max-conns-per-client"] != 1 || s.Clients != 2 {
		t.Errorf("stats %+v", s)
	}
	// Strangers speak for themselves.
	client, server := dial(t, g, "203.0.113.50")
	go func() { _, _ = io.WriteString(client, "PROXY TCP4 1.2.3.4 192.0.2.1 1 2\r\n") }() // ends with the pipe
	if addr := server.RemoteAddr().String(); addr != "203.0.113.50:4711" {
		t.Errorf("a stranger's header gives the address %s", addr)
	}
}

func TestProxyHeaderInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(Config{ProxyProtocol: true, HeaderTimeout: 10 * time.Second, Proxies: trust(t, "10.0.0.1")})
		client, server := dial(t, g, "10.0.0.1")
		go func() { // ends with the pipe
			for _, b := range "PROXY TCP4" {
				if _, err := client.Write([]byte{byte(b)}); err != nil {
					return
				}
				time.Sleep(2 * time.Second)
			}
		}()
		began := time.Now()
		_, err := server.Read(make([]byte, 1))
		if took := time.Since(began); took != 10*time.Second || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("after %v: %v; want the header's deadline", took, err)
		}
		if n := g.Stats().Refused["proxy-timeout"]; n != 1 {
			t.Errorf("%d counted, want 1", n)
		}
		_ = server.Close()
		time.Sleep(2 * time.Second) // until the client has noticed
	})
}
