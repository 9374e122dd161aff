// Package clientip decides who sent a request, and what the origin is told
// about it.
//
// A connection's own address is the client unless its peer is a trusted
// proxy. Then X-Forwarded-For is read from right to left: every proxy appends
// the address it was called from, so the right end was written by machines the
// operator trusts and the left end by whoever sent the request. The first
// address that is no trusted proxy is the client.
//
//	trust, err := clientip.ParseTrust("127.0.0.1/32, ::1/128, 10.0.0.0/8")
//	resolver := clientip.NewResolver(trust)
//	client := resolver.Resolve(r.RemoteAddr, r.Header)
//	...
//	chain := clientip.ForwardedFor(r.Header, client) // for the origin
//
// # What an entry may look like
//
// An IPv4 or IPv6 address, bare, with a port (`203.0.113.9:4711`,
// `[2001:db8::1]:443`), in brackets, or with an IPv6 zone. Ports and zones are
// dropped: they name a socket and a network card, not a client, and the text
// of a zone is the sender's to choose. IPv4-mapped IPv6 addresses count as
// IPv4. Blank entries are skipped.
//
// An entry that is none of these ends the walk, and the client is the peer.
// What stands left of it cannot be vouched for, and what stands right of it is
// a proxy. [Client.Unreadable] tells an operator that this happened.
//
// # What the origin is told
//
// The same rule decides: a trusted peer's X-Forwarded-For is extended and its
// X-Forwarded-Proto kept; a stranger's are replaced, and everything else a
// stranger could say about where a request came from is removed (see
// [Strips]). From a trusted peer the relatives of X-Forwarded-For
// (X-Real-IP, True-Client-IP and so on) are passed as they came: the operator
// vouches for that proxy, and applications rely on what it sets.
//
// # Concurrency and limits
//
// [Trust] and [Resolver] never change after they were built and may be shared;
// a new list makes a new one. Resolving allocates nothing, save one error
// value when an entry is unreadable. An entry longer than 96 bytes is
// unreadable whatever it holds.
package clientip
