package abuse

import (
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/gaissmai/bart"
)

// ranges finds the bans of ranges that hold for an address. It never changes:
// bans of ranges are an operator's rare act, so each makes a new one.
type ranges struct {
	tree bart.Table[*covering]
}

// covering is a ban of a range with the next wider one around it.
type covering struct {
	ban   *Ban
	wider *covering
}

// newRanges makes the tree of the bans that entries hold, by prefix.
func newRanges(entries map[netip.Prefix]*entry) *ranges {
	if len(entries) == 0 {
		return nil
	}
	rs := new(ranges)
	widestFirst := slices.SortedFunc(maps.Keys(entries), func(a, b netip.Prefix) int { return a.Bits() - b.Bits() })
	for _, p := range widestFirst {
		wider, _ := rs.tree.LookupPrefix(p)
		rs.tree.Insert(p, &covering{entries[p].ban, wider})
	}
	return rs
}

// find returns the longest of the bans that hold for a, or nil.
func (rs *ranges) find(a netip.Addr, now time.Time) *Ban {
	if rs == nil {
		return nil
	}
	c, _ := rs.tree.Lookup(a)
	var found *Ban
	for ; c != nil; c = c.wider {
		if c.ban.Active(now) {
			found = longer(found, c.ban)
		}
	}
	return found
}

// each calls yield for every ban.
func (rs *ranges) each(yield func(*Ban) bool) {
	if rs == nil {
		return
	}
	for _, c := range rs.tree.All() {
		if !yield(c.ban) {
			return
		}
	}
}
