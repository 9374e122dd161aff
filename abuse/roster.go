package abuse

import (
	"container/heap"
	"net/netip"
	"time"

	"github.com/andreimerlescu/concert/internal/chain"
)

// entry is what is known about one client or range.
type entry struct {
	client  netip.Prefix
	ban     *Ban // the latest, running or over; nil: never banned
	running bool
	strikes window
	turn    int                // place among the endings; -1 when it has none
	place   chain.Place[entry] // in fresh or past; in none while banned

	first [1]act // what strikes begins with: most clients never have more
}

// offenses is how often the client was banned.
func (e *entry) offenses() int {
	if e.ban == nil {
		return 0
	}
	return e.ban.Offenses
}

// roster is the bookkeeping behind the look-ups. It has no lock of its own.
type roster struct {
	clients map[id]*entry
	ranges  map[netip.Prefix]*entry // with running bans only
	endings endings                 // running bans that end, soonest first
	// The clients without a running ban, in the order they can be done
	// without: fresh by their last strike, past by the end of their last ban.
	fresh, past *chain.Chain[entry]
}

func newRoster() roster {
	return roster{clients: map[id]*entry{}, ranges: map[netip.Prefix]*entry{}, fresh: new(chain.Chain[entry]), past: new(chain.Chain[entry])}
}

// find returns the entry of a canonical client or range, or nil.
func (ro *roster) find(client netip.Prefix) *entry {
	if isRange(client) {
		return ro.ranges[client]
	}
	return ro.clients[idOf(client.Addr())]
}

// add puts a new client on the roster, or a range, which is to be banned at
// once.
func (ro *roster) add(client netip.Prefix) *entry {
	e := &entry{client: client, turn: -1}
	if isRange(client) {
		ro.ranges[client] = e
		return e
	}
	e.strikes = e.first[:0]
	ro.clients[idOf(client.Addr())] = e
	ro.fresh.Push(&e.place, e)
	return e
}

// spare returns the client to do without first, or nil: the one struck longest
// ago, and those who were banned before only when there is no other.
func (ro *roster) spare() *entry {
	if e := ro.fresh.First(); e != nil {
		return e
	}
	return ro.past.First()
}

// drop takes an entry, client or range, off the roster.
func (ro *roster) drop(e *entry) {
	e.place.Take()
	ro.endings.remove(e)
	if isRange(e.client) {
		delete(ro.ranges, e.client)
	} else {
		delete(ro.clients, idOf(e.client.Addr()))
	}
}

// run gives an entry a running ban.
func (ro *roster) run(e *entry, b *Ban) {
	e.place.Take()
	ro.endings.remove(e)
	e.ban, e.running, e.strikes = b, true, nil
	if !b.Permanent() {
		heap.Push(&ro.endings, e)
	}
}

// stop ends a client's running ban; the record of it stays.
func (ro *roster) stop(e *entry) {
	ro.endings.remove(e)
	e.running = false
	ro.past.Push(&e.place, e)
}

// forgive drops a client's record of former bans.
func (ro *roster) forgive(e *entry) {
	e.place.Take()
	e.ban = nil
	ro.fresh.Push(&e.place, e)
}

// touch notes that a client was struck just now.
func (ro *roster) touch(e *entry) {
	if e.ban == nil {
		e.place.Take()
		ro.fresh.Push(&e.place, e)
	}
}

// endings is a heap of entries by the end of their bans.
type endings []*entry

var _ heap.Interface = (*endings)(nil)

// Len implements heap.Interface.
func (h endings) Len() int { return len(h) }

// Less implements heap.Interface.
func (h endings) Less(i, j int) bool { return h[i].ban.Until.Before(h[j].ban.Until) }

// Swap implements heap.Interface.
func (h endings) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].turn, h[j].turn = i, j
}

// Push implements heap.Interface.
func (h *endings) Push(x any) {
	e := x.(*entry)
	e.turn = len(*h)
	*h = append(*h, e)
}

// Pop implements heap.Interface.
func (h *endings) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	e.turn = -1
	return e
}

// due returns an entry whose ban is over at the time now, or nil.
func (h endings) due(now time.Time) *entry {
	if len(h) == 0 || h[0].ban.Active(now) {
		return nil
	}
	return h[0]
}

// remove takes an entry out, if it is in.
func (h *endings) remove(e *entry) {
	if e.turn >= 0 {
		heap.Remove(h, e.turn)
	}
}
