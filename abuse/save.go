package abuse

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Snapshot returns all that is worth keeping beyond the process: the latest
// ban of every client that has one, running or over, and the running bans of
// ranges, by address. Strikes are not: they count for a window only.
func (r *Registry) Snapshot(now time.Time) []Ban {
	var found []*Ban
	r.mu.Lock()
	for _, e := range r.roster.clients {
		if e.ban != nil {
			found = append(found, e.ban)
		}
	}
	r.mu.Unlock()
	for b := range r.wide.Load().each {
		if b.Active(now) {
			found = append(found, b)
		}
	}
	slices.SortFunc(found, func(a, b *Ban) int { return a.Client.Compare(b.Client) })
	bans := make([]Ban, len(found))
	for i, b := range found {
		bans[i] = *b
	}
	return bans
}

// Restore takes up what a snapshot holds. Left out are clients that are exempt
// now, records that are old enough to be forgotten, and bans of ranges that
// are over. Every running ban is taken up, also beyond MaxEntries and
// MaxRanges: none is ever dropped for want of a place. A client that the
// registry knows already gets the record restored.
//
// Subscribers are not told of what is taken up or left out, only of records
// forgotten for want of a place: a journal starts with a Snapshot taken
// afterwards.
//
// The error joins one error for each ban that cannot be one; then nothing is
// restored.
func (r *Registry) Restore(bans []Ban, now time.Time) error {
	var problems []error
	kept := make([]*Ban, 0, len(bans))
	for i, b := range bans {
		client, err := Canonical(b.Client)
		if err != nil {
			problems = append(problems, fmt.Errorf("abuse: restore ban %d of %v: %w", i+1, b.Client, err))
			continue
		}
		b.Client, b.Offenses = client, max(b.Offenses, 1)
		kept = append(kept, &b)
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	// Those that are over are forgotten in the order of their ends.
	slices.SortStableFunc(kept, func(a, b *Ban) int { return a.Until.Compare(b.Until) })
	r.mu.Lock()
	defer r.unlock()
	r.expireLocked(now)
	for _, b := range kept {
		r.restoreLocked(b, now)
	}
	r.wide.Store(newRanges(r.roster.ranges))
	r.shrinkLocked(now)
	return nil
}

func (r *Registry) restoreLocked(b *Ban, now time.Time) {
	s := r.settings.Load()
	single, active := !isRange(b.Client), b.Active(now)
	if !active && (!single || now.Sub(b.Until) > s.MaxCooldown) || single && s.covers(b.Client) {
		return
	}
	e := r.roster.find(b.Client)
	if e == nil {
		e = r.roster.add(b.Client)
	}
	r.roster.run(e, b)
	switch {
	case !active:
		r.single.remove(idOf(b.Client.Addr()))
		r.roster.stop(e)
	case single:
		r.single.put(idOf(b.Client.Addr()), b)
	}
}
