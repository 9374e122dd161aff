package abuse

import (
	"errors"
	"net/netip"
	"time"
)

// Order is an operator's ban.
type Order struct {
	Client    netip.Prefix  // a client or a range; see [Canonical]
	For       time.Duration // above 0, unless it is permanent
	Permanent bool
	By, Note  string
}

// Ban carries out an operator's order. A ban that is running is replaced,
// longer or shorter, without being counted as another offense. It works while
// the registry is off, too.
//
// The error is ErrBadClient, ErrTooBroad, ErrExempt when all of the client is
// exempt (so that a slip cannot lock the operators out), ErrTooMany for a range
// beyond MaxRanges, or says that For is missing.
func (r *Registry) Ban(o Order, now time.Time) (*Ban, error) {
	client, err := Canonical(o.Client)
	if err != nil {
		return nil, err
	}
	if o.For <= 0 && !o.Permanent {
		return nil, errors.New("a ban that is not permanent needs a duration above zero")
	}
	r.mu.Lock()
	defer r.unlock()
	if r.settings.Load().covers(client) {
		return nil, ErrExempt
	}
	r.expireLocked(now)
	e, err := r.enlistLocked(client, now)
	if err != nil {
		return nil, err
	}
	b := &Ban{Client: client, Since: now, Offenses: e.offenses(), Cause: CauseOperator, By: o.By, Note: o.Note}
	if !e.running {
		b.Offenses++
	}
	if !o.Permanent {
		b.Until = now.Add(o.For)
	}
	r.banLocked(e, b)
	return b, nil
}

// enlistLocked returns the entry of a client or range, made if need be.
func (r *Registry) enlistLocked(client netip.Prefix, now time.Time) (*entry, error) {
	e := r.roster.find(client)
	switch {
	case e == nil && isRange(client):
		if len(r.roster.ranges) >= MaxRanges {
			return nil, ErrTooMany
		}
		return r.roster.add(client), nil
	case e == nil:
		r.makeRoomLocked(now) // an operator's ban is made all the same
		return r.roster.add(client), nil
	case r.outlivedLocked(e, now):
		r.forgiveLocked(e, now)
	}
	return e, nil
}

// Lift ends the ban of exactly this client or range and forgets all about it,
// strikes and former bans included. It reports whether there was anything to
// forget. The error is ErrBadClient or ErrTooBroad.
func (r *Registry) Lift(client netip.Prefix, by string, now time.Time) (bool, error) {
	client, err := Canonical(client)
	if err != nil {
		return false, err
	}
	r.mu.Lock()
	defer r.unlock()
	r.expireLocked(now)
	e := r.roster.find(client)
	if e == nil {
		return false, nil
	}
	r.liftLocked(e, by, now)
	return true, nil
}

// liftLocked takes an entry off the roster with everything known about it.
func (r *Registry) liftLocked(e *entry, by string, now time.Time) {
	r.roster.drop(e)
	switch {
	case isRange(e.client):
		r.wide.Store(newRanges(r.roster.ranges))
	case e.running:
		r.single.remove(idOf(e.client.Addr()))
	}
	switch {
	case e.running:
		r.tellLocked(Event{Kind: Lifted, At: now, Ban: e.ban, By: by})
	case e.ban != nil:
		r.tellLocked(Event{Kind: Forgotten, At: now, Ban: e.ban, By: by})
	}
}

// ExemptWithin returns the exempt networks inside a range, which its ban leaves
// alone.
func (r *Registry) ExemptWithin(client netip.Prefix) []netip.Prefix {
	var found []netip.Prefix
	for p := range r.settings.Load().exempt.Subnets(client) {
		found = append(found, p)
	}
	return found
}
