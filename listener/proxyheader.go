package listener

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Sizes of PROXY headers, in bytes.
const (
	maxV1     = 107 // with its CRLF (section 2.1)
	fixedV2   = 16  // up to the addresses (section 2.2)
	addrsV4   = 12
	addrsV6   = 36
	headerBuf = 256 // holds either kind without its TLVs
)

// signatureV2 is how version 2 begins.
const signatureV2 = "\r\n\r\n\x00\r\nQUIT\n"

// errProxyHeader is the error of a header that does not follow the protocol.
var errProxyHeader = errors.New("listener: malformed PROXY header")

// introduction is a PROXY header that is due.
type introduction struct {
	once   sync.Once
	err    error    // why the connection is of no use
	client net.Addr // nil: the other end of the connection
	rest   []byte   // what came behind the header
}

// introduce reads the PROXY header, once.
func (c *guardedConn) introduce() error {
	in := c.introduced
	in.once.Do(func() {
		cfg, peer := c.guard.cfg.Load(), addrOf(c.Conn.RemoteAddr())
		if cfg.HeaderTimeout > 0 {
			_ = c.Conn.SetReadDeadline(time.Now().Add(cfg.HeaderTimeout)) // fails only when closed, as the read does
		}
		var client netip.AddrPort
		client, in.rest, in.err = readProxyHeader(c.Conn)
		why := notRefused
		switch {
		case in.err == nil && client.IsValid():
			in.client = net.TCPAddrFromAddrPort(client)
			if why = c.guard.become(&c.entry, client.Addr()); why != notRefused {
				in.err = fmt.Errorf("listener: connection of %s refused: %s", client.Addr(), why)
				peer = client.Addr()
			}
		case errors.Is(in.err, os.ErrDeadlineExceeded):
			why = slowProxy
		case errors.Is(in.err, errProxyHeader):
			why = malformedProxy
		}
		if why != notRefused {
			c.guard.refuse(cfg, why, peer)
		}
		if in.err != nil { // as of package net: the server then says nothing to whoever it is
			in.err = &net.OpError{Op: "read", Net: "tcp", Addr: c.Conn.RemoteAddr(), Err: in.err}
		}
		_ = c.Conn.SetReadDeadline(time.Time{}) // as above
	})
	return in.err
}

// readProxyHeader reads a PROXY header from r. The address is invalid when the
// header leaves the connection's own in force; rest is what was read beyond.
// The error is io.EOF when r ends before it begins.
func readProxyHeader(r io.Reader) (client netip.AddrPort, rest []byte, err error) {
	buf, have := make([]byte, headerBuf), 0
	for {
		n, err := r.Read(buf[have:])
		have += n
		client, used, skip, perr := parseProxyHeader(buf[:have])
		switch {
		case perr == nil && used > 0:
			if rest, err = skipTLVs(r, buf[used:have], skip); err != nil {
				client = netip.AddrPort{}
			}
			return client, rest, err
		case perr != nil:
			return netip.AddrPort{}, nil, perr
		case err == io.EOF && have > 0:
			return netip.AddrPort{}, nil, fmt.Errorf("%w: it ends early", errProxyHeader)
		case err != nil:
			return netip.AddrPort{}, nil, err
		}
	}
}

// skipTLVs drops skip bytes, which begin in have and go on in r.
func skipTLVs(r io.Reader, have []byte, skip int) (rest []byte, err error) {
	if skip <= len(have) {
		return have[skip:], nil
	}
	if _, err := io.CopyN(io.Discard, r, int64(skip-len(have))); err != nil {
		if err == io.EOF {
			err = fmt.Errorf("%w: it ends early", errProxyHeader)
		}
		return nil, err
	}
	return nil, nil
}

// parseProxyHeader reads the header at the start of b. used is 0 while more is
// needed; skip is how many bytes behind it still belong to it.
func parseProxyHeader(b []byte) (client netip.AddrPort, used, skip int, err error) {
	switch {
	case len(b) == 0:
		return netip.AddrPort{}, 0, 0, nil
	case b[0] == 'P':
		client, used, err = parseV1(b)
		return client, used, 0, err
	case b[0] == signatureV2[0]:
		return parseV2(b)
	}
	return netip.AddrPort{}, 0, 0, fmt.Errorf("%w: it does not begin as one", errProxyHeader)
}

// parseV1 reads a line of text.
func parseV1(b []byte) (client netip.AddrPort, used int, err error) {
	const keyword = "PROXY "
	if n := min(len(b), len(keyword)); string(b[:n]) != keyword[:n] {
		return client, 0, fmt.Errorf("%w: it does not begin as one", errProxyHeader)
	}
	end := bytes.Index(b, []byte("\r\n"))
	if end < 0 && len(b) < maxV1 {
		return client, 0, nil
	}
	if end < 0 || end+2 > maxV1 {
		return client, 0, fmt.Errorf("%w: line too long", errProxyHeader)
	}
	fields := strings.Split(string(b[:end]), " ")
	if fields[1] == "UNKNOWN" { // whatever follows is to be ignored
		return client, end + 2, nil
	}
	if len(fields) != 6 || fields[1] != "TCP4" && fields[1] != "TCP6" {
		return client, 0, fmt.Errorf("%w: neither TCP4, TCP6 nor UNKNOWN", errProxyHeader)
	}
	v6 := fields[1] == "TCP6"
	source, ok := textAddr(fields[2], fields[4], v6)
	_, ok2 := textAddr(fields[3], fields[5], v6)
	if !ok || !ok2 {
		return client, 0, fmt.Errorf("%w: bad address", errProxyHeader)
	}
	return source, end + 2, nil
}

func textAddr(host, port string, v6 bool) (netip.AddrPort, bool) {
	a, err := netip.ParseAddr(host)
	n, err2 := strconv.ParseUint(port, 10, 16)
	plainPort := err2 == nil && strconv.FormatUint(n, 10) == port
	if err != nil || !plainPort || a.Is4() == v6 || a.Zone() != "" {
		return netip.AddrPort{}, false
	}
	return netip.AddrPortFrom(a.Unmap(), uint16(n)), true
}

// parseV2 reads the binary form.
func parseV2(b []byte) (client netip.AddrPort, used, skip int, err error) {
	fail := func(what string) (netip.AddrPort, int, int, error) {
		return netip.AddrPort{}, 0, 0, fmt.Errorf("%w: %s", errProxyHeader, what)
	}
	if n := min(len(b), len(signatureV2)); string(b[:n]) != signatureV2[:n] {
		return fail("it does not begin as one")
	}
	if len(b) < fixedV2 {
		return client, 0, 0, nil
	}
	length, addrs := int(binary.BigEndian.Uint16(b[14:])), 0
	switch b[12] {
	case 0x20: // LOCAL: the proxy's own, a health check for one
		return client, fixedV2, length, nil
	case 0x21: // PROXY
	default:
		return fail("unknown version or command")
	}
	switch b[13] {
	case 0x11: // TCP over IPv4
		addrs = addrsV4
	case 0x21: // TCP over IPv6
		addrs = addrsV6
	case 0x00, 0x12, 0x22, 0x31, 0x32: // unspecified, datagrams, Unix sockets: no address of use
		return client, fixedV2, length, nil
	default:
		return fail("unknown family")
	}
	if length < addrs {
		return fail("no room for its addresses")
	}
	if len(b) < fixedV2+addrs {
		return client, 0, 0, nil
	}
	at := (addrs - 4) / 2 // of the source; the destination follows, then both ports
	source, _ := netip.AddrFromSlice(b[fixedV2 : fixedV2+at])
	port := binary.BigEndian.Uint16(b[fixedV2+2*at:])
	return netip.AddrPortFrom(source.Unmap(), port), fixedV2 + addrs, length - addrs, nil
}
