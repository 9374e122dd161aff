package memory

import (
	"encoding/binary"
	"net/netip"
	"time"
)

// instant is a time as nanoseconds since Options.Start.
type instant int64

func (n instant) add(d time.Duration) instant { return n + instant(d) }

func (n instant) since(m instant) time.Duration { return time.Duration(n - m) }

// ticket is what a poll reads and writes of a place in line. With a million
// waiting it comes from memory each time, so it is one cache line of 64 bytes:
// times of day are integers and durations are milliseconds.
type ticket struct {
	number uint64
	issued int64   // Unix milliseconds
	seen   instant // last sight of the owner
	due    instant // presence ends, or the time to come when called
	called instant // when last told to come
	chunk  int32   // index into order.pool
	next   int32   // in the wheel's list, or in the slab's free list
	prev   int32
	gap    int32  // observed time between polls, ms; 0: not known
	asked  int32  // the poll delay last given, ms
	filed  uint16 // the wheel's list this is in, plus one; 0: in none
	flags  uint8
}

const (
	flagPolled   = 1 << iota // seen at least once after it was issued
	flagCalled               // told to come, and has not come since
	flagOwnPace              // polls at a pace of its own, whatever it is told
	flagPromoted             // placed by an operator: its number says nothing of its place
	flagGuest                // stands at the door without a place
	flagLost                 // nothing is known of it but that it may exist: see returns
)

func (t *ticket) has(f uint8) bool { return t.flags&f != 0 }

// The slab's pages are small enough to be cleared without being noticed.
const pageSize = 1024

type slabPage struct {
	tickets [pageSize]ticket
	origins [pageSize]origin
}

// origin is what a ticket was issued with: seldom asked for, and kept apart.
type origin struct {
	client client
	rank   uint8
	lead   int32 // head start over those who came before, in places
}

// slab stores tickets under small indexes that stay valid until freed. Index
// 0 is never given out. It grows by pages, so growing copies no ticket.
type slab struct {
	pages []*slabPage
	free  int32 // head of the list of freed tickets
	used  int32 // indexes given out so far, counting 0
}

func (s *slab) at(i int32) *ticket {
	return &s.pages[uint32(i)/pageSize].tickets[uint32(i)%pageSize]
}

func (s *slab) origin(i int32) *origin {
	return &s.pages[uint32(i)/pageSize].origins[uint32(i)%pageSize]
}

func (s *slab) alloc() int32 {
	if i := s.free; i != 0 {
		s.free = s.at(i).next
		*s.at(i) = ticket{}
		return i
	}
	if s.used == 0 {
		s.used = 1
	}
	i := s.used
	s.used++
	if int(i/pageSize) >= len(s.pages) {
		s.pages = append(s.pages, new(slabPage))
	}
	return i
}

func (s *slab) release(i int32) {
	*s.at(i), *s.origin(i) = ticket{next: s.free}, origin{}
	s.free = i
}

// client is a compact netip.Prefix: an IPv4 prefix is kept in its IPv6-mapped
// form. It is comparable, and its zero value means none.
type client struct {
	addr [16]byte
	size uint8 // prefix length in bits, plus one; 0: no client
}

func clientOf(p netip.Prefix) client {
	if !p.IsValid() {
		return client{}
	}
	bits := p.Bits()
	if p.Addr().Is4() {
		bits += 96
	}
	return client{addr: p.Masked().Addr().As16(), size: uint8(bits + 1)}
}

func (c *client) prefix() netip.Prefix {
	if c.size == 0 {
		return netip.Prefix{}
	}
	addr, bits := netip.AddrFrom16(c.addr), int(c.size)-1
	if c.is4() {
		addr, bits = addr.Unmap(), bits-96
	}
	return netip.PrefixFrom(addr, bits)
}

// is4 reports whether c is an IPv4 prefix.
func (c *client) is4() bool {
	return c.size > 96 && netip.AddrFrom16(c.addr).Is4In6()
}

// within reports whether all of c lies in p. An IPv4 prefix lies in no IPv6
// one, however short.
func (c *client) within(p *client) bool {
	if c.size == 0 || p.size == 0 || c.size < p.size || c.is4() != p.is4() {
		return false
	}
	bits := uint(p.size - 1)
	hi := binary.BigEndian.Uint64(c.addr[:8]) ^ binary.BigEndian.Uint64(p.addr[:8])
	lo := binary.BigEndian.Uint64(c.addr[8:]) ^ binary.BigEndian.Uint64(p.addr[8:])
	if bits <= 64 {
		return hi>>(64-bits) == 0 // a shift by 64 gives 0: every address
	}
	return hi == 0 && lo>>(128-bits) == 0
}
