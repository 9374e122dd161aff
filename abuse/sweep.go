package abuse

import "time"

// Sweep ends the bans that ran out and forgets whoever need not be remembered.
// Call it now and then: nothing but memory, gauges and the time of an Ended
// event depends on it.
func (r *Registry) Sweep(now time.Time) {
	r.mu.Lock()
	defer r.unlock()
	r.expireLocked(now)
	s := r.settings.Load()
	for e := r.roster.fresh.First(); e != nil; e = r.roster.fresh.First() {
		if e.strikes.prune(now.Sub(r.began), s.Window); len(e.strikes) > 0 {
			break
		}
		r.roster.drop(e)
	}
	for e, next := r.roster.past.First(), (*entry)(nil); e != nil; e = next {
		next = e.place.Next()
		if now.Sub(e.ban.Until) <= s.MaxCooldown {
			break
		}
		if r.outlivedLocked(e, now) {
			r.forgetLocked(e, now)
		}
	}
}

// expireLocked ends the bans that are over.
func (r *Registry) expireLocked(now time.Time) {
	wide := false
	for e := r.roster.endings.due(now); e != nil; e = r.roster.endings.due(now) {
		r.tellLocked(Event{Kind: Ended, At: e.ban.Until, Ban: e.ban})
		if isRange(e.client) {
			r.roster.drop(e)
			wide = true
			continue
		}
		r.single.remove(idOf(e.client.Addr()))
		r.roster.stop(e)
	}
	if wide {
		r.wide.Store(newRanges(r.roster.ranges))
	}
}

// outlivedLocked reports whether a client outlived its record: its last ban
// ended more than MaxCooldown ago, and no strike since still counts.
func (r *Registry) outlivedLocked(e *entry, now time.Time) bool {
	s := r.settings.Load()
	if e.running || e.ban == nil || now.Sub(e.ban.Until) <= s.MaxCooldown {
		return false
	}
	e.strikes.prune(now.Sub(r.began), s.Window)
	return len(e.strikes) == 0
}

// shrinkLocked forgets clients until no more than MaxEntries are left, or none
// that is not banned.
func (r *Registry) shrinkLocked(now time.Time) {
	for len(r.roster.clients) > r.settings.Load().MaxEntries {
		e := r.roster.spare()
		if e == nil {
			return
		}
		r.forgetLocked(e, now)
	}
}

// forgetLocked drops a client that is not banned.
func (r *Registry) forgetLocked(e *entry, now time.Time) {
	r.roster.drop(e)
	if e.ban != nil {
		r.tellLocked(Event{Kind: Forgotten, At: now, Ban: e.ban})
	}
}

// forgiveLocked drops a client's record of former bans.
func (r *Registry) forgiveLocked(e *entry, now time.Time) {
	r.tellLocked(Event{Kind: Forgotten, At: now, Ban: e.ban})
	r.roster.forgive(e)
}

func (r *Registry) tellLocked(e Event) { r.untold = append(r.untold, e) }
