package abuse

import (
	"cmp"
	"math"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/andreimerlescu/concert/internal/fold"
)

// Filter chooses bans for a list. The zero Filter chooses all.
type Filter struct {
	// Client, when it is valid, keeps the bans that hold for some of it: of
	// the client or range itself, of ranges around it and of what is inside.
	Client netip.Prefix
	// Text keeps the bans that have it, in any capitals, in their client,
	// cause, note or operator's name.
	Text string
	// Range and Permanent, when they are set, keep one side only.
	Range, Permanent *bool
}

func (f Filter) keeps(b *Ban) bool {
	return (!f.Client.IsValid() || f.Client.Overlaps(b.Client)) &&
		(f.Range == nil || *f.Range == b.Range()) &&
		(f.Permanent == nil || *f.Permanent == b.Permanent()) &&
		(f.Text == "" || f.mentioned(b))
}

// mentioned reports whether b has f.Text, which is in lower case.
func (f Filter) mentioned(b *Ban) bool {
	var buf [64]byte
	return fold.Contains(string(b.Client.AppendTo(buf[:0])), f.Text) || fold.Contains(b.Cause, f.Text) ||
		fold.Contains(b.Note, f.Text) || fold.Contains(b.By, f.Text)
}

// List returns the running bans that f keeps: permanent ones first, then those
// that end last, clients before ranges, then by address. The caller owns the
// slice. It takes no lock, so it holds up nobody.
func (r *Registry) List(f Filter, now time.Time) []*Ban {
	f.Text = strings.ToLower(f.Text)
	var found []ranked
	collect := func(b *Ban) bool {
		if b.Active(now) && f.keeps(b) {
			found = append(found, ranked{endOf(b), b.Range(), b})
		}
		return true
	}
	r.single.each(collect)
	r.wide.Load().each(collect)
	slices.SortFunc(found, inListOrder)
	bans := make([]*Ban, len(found))
	for i := range found {
		bans[i] = found[i].ban
	}
	return bans
}

// ranked is a ban with what it is listed by, side by side: to sort a hundred
// thousand by looking into each would take ten times as long.
type ranked struct {
	end  int64 // Unix nanoseconds
	wide bool
	ban  *Ban
}

// endOf is when a ban ends; a permanent one after all others.
func endOf(b *Ban) int64 {
	if b.Permanent() {
		return math.MaxInt64
	}
	return b.Until.UnixNano()
}

func inListOrder(a, b ranked) int {
	switch {
	case a.end != b.end:
		return cmp.Compare(b.end, a.end)
	case a.wide != b.wide && b.wide:
		return -1
	case a.wide != b.wide:
		return 1
	}
	return a.ban.Client.Compare(b.ban.Client)
}

// Count returns how many bans are running, as the length of a List without a
// filter. It takes no lock and makes no list.
func (r *Registry) Count(now time.Time) (n int) {
	count := func(b *Ban) bool {
		if b.Active(now) {
			n++
		}
		return true
	}
	r.single.each(count)
	r.wide.Load().each(count)
	return n
}
