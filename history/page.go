package history

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/internal/fold"
)

// TopPaths is how many paths of a ban BanRows tells, the most requested ones.
const TopPaths = 3

// ClientOrder returns the keys of the clients that Search would list, all of
// them and in the same order. It makes no rows, so that a page of the list costs
// what its own rows cost: see ClientRows.
func (h *History) ClientOrder(text string, flagged bool, now time.Time) []netip.Prefix {
	found := h.ranked(strings.ToLower(text), flagged, now)
	slices.SortFunc(found, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.urgency, b.urgency), cmp.Compare(b.last, a.last), a.key.Compare(b.key))
	})
	keys := make([]netip.Prefix, len(found))
	for i := range found {
		keys[i] = found[i].key
	}
	return keys
}

// ranked is what a client is put in order by.
type ranked struct {
	key     netip.Prefix
	urgency int
	last    int64
}

// ranked finds the clients that have a text in small letters, a few at a time,
// so that visits do not wait for it.
func (h *History) ranked(text string, flagged bool, now time.Time) []ranked {
	var found []ranked
	h.eachClient(func(c *client) {
		if (c.flagged || !flagged) && c.contains(text) {
			found = append(found, ranked{c.key, urgency(h.stateLocked(c, now)), c.last})
		}
	})
	return found
}

// stateLocked is the state of the latest ban of a client, "" without one.
func (h *History) stateLocked(c *client, now time.Time) string {
	switch w := h.bans.covering(c.key, now); {
	case w != nil:
		return w.state(now)
	case c.flagged:
		return StateExpired
	}
	return ""
}

// ClientRows returns the clients of some keys without their requests; those
// that are gone are left out.
func (h *History) ClientRows(keys []netip.Prefix, now time.Time) []ClientView {
	h.mu.Lock()
	defer h.mu.Unlock()
	rows := make([]ClientView, 0, len(keys))
	for _, key := range keys {
		if c := h.clients.byKey[key]; c != nil {
			rows = append(rows, h.rowLocked(c, now))
		}
	}
	return rows
}

// BanOrder returns the numbers of the bans whose network, source, state or
// lifter contains a text, in any case of letters, newest first. A ban that has
// no number yet is left out.
func (h *History) BanOrder(text string, now time.Time) []uint64 {
	text = strings.ToLower(text)
	h.mu.Lock()
	defer h.mu.Unlock()
	numbers := make([]uint64, 0, len(h.bans.all))
	for _, w := range slices.Backward(h.bans.all) {
		if w.number != 0 && w.contains(text, now) {
			numbers = append(numbers, w.number)
		}
	}
	return numbers
}

func (w *window) contains(text string, now time.Time) bool {
	return text == "" || fold.Contains(w.source, text) || fold.Contains(w.liftedBy, text) ||
		strings.Contains(w.state(now), text) || strings.Contains(clientip.FormatKey(w.target), text)
}

// BanRows returns the bans of some numbers, each with its most requested paths,
// at most TopPaths, and without addresses.
func (h *History) BanRows(numbers []uint64, now time.Time) []BanView {
	h.mu.Lock()
	defer h.mu.Unlock()
	found := make(map[uint64]*window, len(numbers))
	for _, n := range numbers {
		found[n] = nil
	}
	for _, w := range h.bans.all {
		if _, wanted := found[w.number]; wanted {
			found[w.number] = w
		}
	}
	rows := make([]BanView, 0, len(numbers))
	for _, n := range numbers {
		if w := found[n]; w != nil {
			v := w.view(now)
			v.Paths = w.topPaths()
			rows = append(rows, v)
		}
	}
	return rows
}

// topPaths copies the most requested paths.
func (w *window) topPaths() map[string]uint64 {
	paths := make([]string, 0, len(w.paths))
	for path := range w.paths {
		paths = append(paths, path)
	}
	slices.SortFunc(paths, func(a, b string) int { return cmp.Or(cmp.Compare(w.paths[b], w.paths[a]), cmp.Compare(a, b)) })
	top := make(map[string]uint64, TopPaths)
	for _, path := range paths[:min(TopPaths, len(paths))] {
		top[path] = w.paths[path]
	}
	return top
}
