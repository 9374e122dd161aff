package abuse

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// Registry knows who misbehaved and who is banned. Use [New]. It is safe for
// concurrent use.
type Registry struct {
	began time.Time // strikes are timed from here

	// What Lookup reads; written under mu.
	settings atomic.Pointer[settings]
	single   *index
	wide     atomic.Pointer[ranges]

	strikes, bans, dropped atomic.Uint64

	mu     sync.Mutex // guards the fields below, and changes of those above
	roster roster
	untold []Event

	telling     sync.Mutex // guards the order of events; held while they are told
	subscribers []func(Event)
}

// New returns an empty registry. now is the time it begins; the times given to
// its methods should come from the same clock.
func New(c Config, now time.Time) (*Registry, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	r := &Registry{began: now, single: newIndex(), roster: newRoster()}
	r.settings.Store(newSettings(c))
	return r, nil
}

// Apply replaces the configuration; on an error it changes nothing. Clients
// that are now exempt are free at once and their records are gone; those
// beyond a lowered MaxEntries are forgotten, unless they are banned.
func (r *Registry) Apply(c Config, now time.Time) error {
	if err := c.check(); err != nil {
		return err
	}
	s := newSettings(c)
	r.mu.Lock()
	defer r.unlock()
	r.settings.Store(s)
	r.expireLocked(now)
	for _, e := range r.roster.clients {
		if s.covers(e.client) {
			r.liftLocked(e, ByExemption, now)
		}
	}
	r.shrinkLocked(now)
	return nil
}

// Enabled reports whether the registry is on.
func (r *Registry) Enabled() bool { return r.settings.Load().Enabled }

// Exempt reports whether an address is never struck and never refused.
func (r *Registry) Exempt(a netip.Addr) bool {
	return a.IsValid() && r.settings.Load().exempt.Contains(plain(a))
}

// Lookup returns the ban that holds for an address, the longest when there are
// several, or nil. It takes no lock and allocates nothing.
func (r *Registry) Lookup(a netip.Addr, now time.Time) *Ban {
	s := r.settings.Load()
	if !s.Enabled || !a.IsValid() {
		return nil
	}
	a = plain(a)
	b := r.single.find(idOf(a))
	if b != nil && !b.Active(now) {
		b = nil // over, and not yet noticed
	}
	if b = longer(b, r.wide.Load().find(a, now)); b == nil || s.exempt.Contains(a) {
		return nil
	}
	return b
}
