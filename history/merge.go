package history

import (
	"cmp"
	"slices"
	"strings"
)

// Merge makes one list, in the order of a [Listing], of what several histories
// know of the same clients. What each has counted is added up; of requests there
// are at most as many as one history keeps, the newest.
func Merge(clients []ClientView) []ClientView {
	at := make(map[string]int, len(clients))
	out := make([]ClientView, 0, len(clients))
	for _, c := range clients {
		if i, ok := at[c.Client]; ok {
			out[i].add(c)
			continue
		}
		at[c.Client] = len(out)
		out = append(out, c)
	}
	slices.SortFunc(out, byUrgency)
	return out
}

// add adds what another history knows of the client.
func (c *ClientView) add(o ClientView) {
	if o.First.Before(c.First) {
		c.First = o.First
	}
	if o.Last.After(c.Last) {
		c.Last = o.Last
	}
	if c.Newest == nil || o.Newest != nil && o.Newest.At.After(c.Newest.At) {
		c.Newest = o.Newest
	}
	if urgency(o.State) < urgency(c.State) {
		c.State, c.Until = o.State, o.Until
	}
	c.Requests, c.Blocked, c.Errors = c.Requests+o.Requests, c.Blocked+o.Blocked, c.Errors+o.Errors
	c.Entries = append(slices.Clone(c.Entries), o.Entries...)
	slices.SortStableFunc(c.Entries, func(a, b EntryView) int { return b.At.Compare(a.At) })
	c.Entries = c.Entries[:min(len(c.Entries), EntriesPerClient)]
	for _, ua := range o.UserAgents {
		if !slices.Contains(c.UserAgents, ua) {
			c.UserAgents = append(slices.Clone(c.UserAgents), ua)
		}
	}
	if len(c.Bans) == 0 { // each numbers them by itself, so one list has to do
		c.Bans = o.Bans
	}
}

// byUrgency orders a listing.
func byUrgency(a, b ClientView) int {
	return cmp.Or(cmp.Compare(urgency(a.State), urgency(b.State)), b.Last.Compare(a.Last), strings.Compare(a.Client, b.Client))
}
