package history

import (
	"net/netip"
	"time"

	"github.com/andreimerlescu/concert/clientip"
)

// window is one ban from its begin to its end.
type window struct {
	number   uint64 // 0: not given yet
	target   netip.Prefix
	begin    time.Time
	known    bool      // begin is when it began, not when it was found
	until    time.Time // zero: permanent
	lifted   time.Time // zero: not lifted
	liftedBy string
	changes  int
	source   string
	trigger  *Trigger

	requests   uint64
	paths      map[string]uint64
	otherPaths uint64
	visitors   map[netip.Prefix]*visitor
	others     visitor // clients beyond maxPerBan

	queued bool    // it is in bans.changed
	merged *window // this was found to be another one's later part

	// The writer's own.
	announced bool   // the files have its begin
	logged    uint64 // requests that the files have
}

// visitor is a client that ran into a ban.
type visitor struct {
	ban      *window
	key      netip.Prefix
	requests uint64
	flood    flood
}

func newWindow(b Ban) *window {
	w := &window{
		target: b.Target, begin: b.Since, known: !b.Since.IsZero(), until: b.Until, source: b.Source,
		paths: make(map[string]uint64), visitors: make(map[netip.Prefix]*visitor),
	}
	w.others.ban = w
	return w
}

// active reports whether the ban holds.
func (w *window) active(now time.Time) bool {
	return w.lifted.IsZero() && (w.until.IsZero() || now.Before(w.until))
}

// ended returns when the ban ended; it must be over.
func (w *window) ended() time.Time {
	if w.lifted.IsZero() {
		return w.until
	}
	return w.lifted
}

// real returns the window that this one has become a part of, or itself.
func (w *window) real() *window {
	for w != nil && w.merged != nil {
		w = w.merged
	}
	return w
}

// lengthOf tells the lengths of the two families apart.
func lengthOf(p netip.Prefix) int {
	if p.Addr().Is4() {
		return 96 + p.Bits()
	}
	return p.Bits()
}

// visitor returns the client's share of the ban; clients beyond maxPerBan have
// one together.
func (w *window) visitor(key netip.Prefix) *visitor {
	v := w.visitors[key]
	switch {
	case v != nil:
	case len(w.visitors) >= maxPerBan || w.visitors == nil:
		v = &w.others
	default:
		v = &visitor{ban: w, key: key}
		w.visitors[key] = v
	}
	return v
}

// targetText is the ban's target as operators write it.
func (w *window) targetText() string { return clientip.FormatKey(w.target) }
