package clientip

import (
	"net/http"
	"net/netip"
	"strings"
)

// Client is who sent a request.
type Client struct {
	// Addr is the client's address, without zone, IPv4-mapped as IPv4. It is
	// the zero Addr when the connection has no IP address (a Unix socket).
	Addr netip.Addr
	// Key is what bans, strikes and places in line are counted by; see [KeyOf].
	Key netip.Prefix
	// Peer is the other end of the connection: the client itself or a proxy.
	Peer netip.Addr
	// PeerTrusted says that Peer is a trusted proxy, so that what it says
	// about the request is believed.
	PeerTrusted bool
	// Unreadable says that a trusted peer sent a chain with an entry that is
	// no address, and Addr is therefore the peer's.
	Unreadable bool
}

// KeyOf returns the network one client is taken to hold: an IPv4 address by
// itself (/32), an IPv6 address by its /64, which is the least a subscriber is
// given and within which addresses are free to change. The zero Addr has the
// zero Prefix.
func KeyOf(a netip.Addr) netip.Prefix { return keyOf(plain(a)) }

// keyOf is KeyOf of an address that is plain.
func keyOf(a netip.Addr) netip.Prefix {
	bits := 64
	if a.Is4() {
		bits = 32
	}
	p, err := a.Prefix(bits)
	if err != nil {
		return netip.Prefix{} // the zero Addr
	}
	return p
}

// FormatKey returns a key as people read it: an IPv4 address without its /32,
// an IPv6 network as `2001:db8:1:2::/64`, and "-" for the zero key.
func FormatKey(key netip.Prefix) string {
	var buf [64]byte
	return string(AppendKey(buf[:0], key))
}

// AppendKey appends what FormatKey returns.
func AppendKey(dst []byte, key netip.Prefix) []byte {
	switch {
	case !key.IsValid():
		return append(dst, '-')
	case key.Addr().Is4() && key.Bits() == 32:
		return key.Addr().AppendTo(dst)
	}
	return key.AppendTo(dst)
}

// Resolver finds the client of a request. It is safe for concurrent use.
type Resolver struct{ trust *Trust }

// NewResolver returns a resolver that looks past the proxies in trust; nil
// trusts nobody.
func NewResolver(trust *Trust) *Resolver { return &Resolver{trust: trust} }

// Resolve returns the client of a request that came from remoteAddr, as
// [http.Request.RemoteAddr] has it, with header h.
func (rs *Resolver) Resolve(remoteAddr string, h http.Header) Client {
	peer, _ := parseEntry(remoteAddr) // the zero Addr is trusted by nobody
	return rs.resolve(peer, h)
}

// ResolvePeer is Resolve for a peer whose address is already parsed.
func (rs *Resolver) ResolvePeer(peer netip.Addr, h http.Header) Client {
	return rs.resolve(plain(peer), h)
}

// resolve is ResolvePeer for an address that is plain, as all are from here on.
func (rs *Resolver) resolve(peer netip.Addr, h http.Header) Client {
	c := Client{Addr: peer, Peer: peer, PeerTrusted: rs.trust.holds(peer)}
	if c.PeerTrusted {
		var readable bool
		c.Addr, readable = rs.trust.walk(peer, h[headerFor])
		c.Unreadable = !readable
	}
	c.Key = keyOf(c.Addr)
	return c
}

// walk reads an X-Forwarded-For chain from right to left and returns the first
// address that is not in t, the left-most one when all are, and peer when
// there is none. It returns peer and false when it meets an entry that is no
// address.
func (t *Trust) walk(peer netip.Addr, lines []string) (netip.Addr, bool) {
	leftmost := peer
	for i := len(lines) - 1; i >= 0; i-- {
		for rest := lines[i]; rest != ""; {
			var entry string
			entry, rest = cutLast(rest)
			if entry == "" {
				continue
			}
			a, ok := parseEntry(entry)
			if !ok {
				return peer, false
			}
			if !t.holds(a) {
				return a, true
			}
			leftmost = a
		}
	}
	return leftmost, true
}

// cutLast splits a list at its last comma and trims the entry right of it.
func cutLast(list string) (entry, rest string) {
	if i := strings.LastIndexByte(list, ','); i >= 0 {
		rest, list = list[:i], list[i+1:]
	}
	return trimBlank(list), rest
}
