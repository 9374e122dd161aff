package history

import (
	"encoding/binary"
	"net/netip"
	"strings"
	"time"

	"github.com/andreimerlescu/concert/internal/chain"
)

// clients is the table of clients, each in one of two lists from the idlest to
// the latest.
type clients struct {
	byKey   map[netip.Prefix]*client
	plain   *chain.Chain[client] // never banned
	flagged *chain.Chain[client]
	evicted uint64
}

// client is what is remembered of one.
type client struct {
	key         netip.Prefix
	ring        []entry // the last requests; the oldest is at next when the ring is full
	next        int
	agents      [maxAgents]agent
	first, last int64  // Unix nanoseconds
	pushed      uint64 // entries so far; the number of the newest one
	requests    uint64
	blocked     uint64
	errors      uint64 // answered with 400 or more without being blocked
	flagged     bool   // a ban has held for it

	place chain.Place[client] // among the plain or the flagged
}

// agent is a user agent, and the number of the first request that had it since
// it took this place.
type agent struct {
	text  string
	since uint64
	last  uint64
}

func newClients() clients {
	return clients{
		byKey: make(map[netip.Prefix]*client), plain: new(chain.Chain[client]), flagged: new(chain.Chain[client]),
	}
}

func (t *clients) chainOf(c *client) *chain.Chain[client] {
	if c.flagged {
		return t.flagged
	}
	return t.plain
}

// touch returns the client of a key, made if need be, as the latest of its list.
func (t *clients) touch(key netip.Prefix, flagged bool) *client {
	c := t.byKey[key]
	if c == nil {
		if len(t.byKey) >= MaxClients {
			t.makeRoom()
		}
		c = &client{key: key, flagged: flagged}
		t.byKey[key] = c
		t.chainOf(c).Push(&c.place, c)
		return c
	}
	c.place.Take()
	c.flagged = c.flagged || flagged
	t.chainOf(c).Push(&c.place, c)
	return c
}

// makeRoom drops the idlest client that was never banned, or the idlest banned
// one when those have more than their share.
func (t *clients) makeRoom() {
	victim := t.plain.First()
	if t.flagged.Len() > maxFlagged || victim == nil {
		victim = t.flagged.First()
	}
	t.drop(victim)
	t.evicted++
}

func (t *clients) drop(c *client) {
	c.place.Take()
	delete(t.byKey, c.key)
}

// expire drops clients whose last request was before a time.
func (t *clients) expire(before time.Time) {
	for _, c := range t.byKey {
		if c.last < before.UnixNano() {
			t.drop(c)
		}
	}
}

// add records a request.
func (t *clients) add(q *request) {
	c := t.touch(q.key, q.blocked || q.triggered)
	at := q.at.UnixNano()
	c.requests++
	c.seen(at)
	switch {
	case q.blocked:
		c.blocked++
	case q.status >= 400:
		c.errors++
	}
	c.pushed++
	c.push(entry{
		at: at, latency: q.latency, method: q.method, path: q.path, rank: q.rank, room: q.room, ban: q.ban, host: hostOf(q.addr),
		status: uint16(q.status), agent: c.agent(q.agent), blocked: q.blocked, triggered: q.triggered,
	})
}

// seen widens the time in which the client was there.
func (c *client) seen(at int64) {
	if c.first == 0 || at < c.first {
		c.first = at
	}
	c.last = max(c.last, at)
}

// push adds an entry in place of the oldest.
func (c *client) push(e entry) {
	if len(c.ring) < EntriesPerClient {
		if len(c.ring) == cap(c.ring) { // append would take more than is ever needed
			grown := make([]entry, len(c.ring), min(2*len(c.ring)+4, EntriesPerClient))
			copy(grown, c.ring)
			c.ring = grown
		}
		c.ring = append(c.ring, e)
		return
	}
	c.ring[c.next] = e
	c.next = (c.next + 1) % EntriesPerClient
}

// each calls f with the entries from the newest to the oldest, and the number
// of the request that each one is.
func (c *client) each(f func(number uint64, e *entry)) {
	n := len(c.ring)
	for i := range n {
		f(c.pushed-uint64(i), &c.ring[(c.next+n-1-i)%n])
	}
}

// oldestFirst calls f with a copy of each entry from the oldest to the newest,
// and its user agent.
func (c *client) oldestFirst(f func(e entry, agent string)) {
	n := len(c.ring)
	for i := range n {
		e := c.ring[(c.next+i)%n]
		f(e, c.agentOf(c.pushed-uint64(n-1-i), &e))
	}
}

// agent returns the place of a user agent, giving it that of the one that was
// seen longest ago when it is new.
func (c *client) agent(text string) uint8 {
	text = cut(text, maxAgent)
	place := 0
	for i := range c.agents {
		a := &c.agents[i]
		if a.last > 0 && a.text == text {
			a.last = c.pushed
			return uint8(i)
		}
		if a.last < c.agents[place].last {
			place = i
		}
	}
	c.agents[place] = agent{text: strings.Clone(text), since: c.pushed, last: c.pushed}
	return uint8(place)
}

// agentOf returns the user agent of an entry, "" when its place was taken since.
func (c *client) agentOf(number uint64, e *entry) string {
	if a := &c.agents[e.agent]; number >= a.since {
		return a.text
	}
	return ""
}

// hostOf returns the half of an IPv6 address that its client's key lacks.
func hostOf(a netip.Addr) uint64 {
	if !a.Is6() {
		return 0
	}
	b := a.As16()
	return binary.BigEndian.Uint64(b[8:])
}

// addrOf puts an address together again. Of a masked client only the network
// is left.
func (c *client) addrOf(e *entry) netip.Addr {
	a := c.key.Addr()
	if !a.Is6() || c.key.Bits() != 64 {
		return a
	}
	b := a.As16()
	binary.BigEndian.PutUint64(b[8:], e.host)
	return netip.AddrFrom16(b)
}
