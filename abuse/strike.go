package abuse

import (
	"net/netip"
	"strings"
	"time"
	"unicode/utf8"
)

// maxNote is the most of a ban path that is kept, in bytes: the sender chose
// it.
const maxNote = 80

// Strike counts an act of the client at address a, with a weight above zero,
// and bans the client when its total within the window has reached the limit.
// Exempt and banned clients are not struck. act is the cause of the ban if
// there is one; the request that was struck is not refused yet.
func (r *Registry) Strike(a netip.Addr, act string, weight int, now time.Time) {
	r.mu.Lock()
	defer r.unlock()
	s := r.settings.Load()
	if !s.Enabled || weight < 1 || !a.IsValid() || s.exempt.Contains(plain(a)) {
		return
	}
	r.strikes.Add(1)
	e := r.clientLocked(a, now)
	if e == nil || e.running {
		return
	}
	total := e.strikes.add(now.Sub(r.began), weight, s.Strikes, s.Window)
	r.roster.touch(e)
	if total >= s.Strikes {
		r.punishLocked(e, act, "", now)
	}
}

// Trap bans the client at address a for asking for a ban path, at once. The ban
// it returns is what to refuse the request with; it is nil only when the
// address is exempt or the registry is off. A client there is no place for on
// the roster is refused all the same.
func (r *Registry) Trap(a netip.Addr, path string, now time.Time) *Ban {
	r.mu.Lock()
	defer r.unlock()
	s := r.settings.Load()
	if !s.Enabled || a.IsValid() && s.exempt.Contains(plain(a)) {
		return nil
	}
	var e *entry
	if a.IsValid() {
		e = r.clientLocked(a, now)
	}
	switch {
	case e == nil:
		return &Ban{Client: keyOf(a), Since: now, Until: now.Add(s.Cooldown), Offenses: 1, Cause: CauseTrap}
	case !e.running:
		r.punishLocked(e, CauseTrap, noteOf(path), now)
	}
	return e.ban
}

// noteOf returns what is kept of a path: a copy, because the path is part of a
// much longer request.
func noteOf(path string) string {
	if len(path) > maxNote {
		n := maxNote
		for n > maxNote-utf8.UTFMax && !utf8.RuneStart(path[n]) {
			n-- // not in the middle of a character
		}
		path = path[:n]
	}
	return strings.ToValidUTF8(strings.Clone(path), "\uFFFD")
}

// clientLocked returns the entry of the client at a, made if need be, or nil
// when there is no place for it: then the act is counted as dropped.
func (r *Registry) clientLocked(a netip.Addr, now time.Time) *entry {
	r.expireLocked(now)
	a = plain(a)
	if e := r.roster.clients[idOf(a)]; e != nil {
		if r.outlivedLocked(e, now) {
			r.forgiveLocked(e, now)
		}
		return e
	}
	if !r.makeRoomLocked(now) {
		r.dropped.Add(1)
		return nil
	}
	return r.roster.add(keyOf(a))
}

// makeRoomLocked reports whether there is a place on the roster for another
// client, that of one who is not banned if need be.
func (r *Registry) makeRoomLocked(now time.Time) bool {
	if len(r.roster.clients) < r.settings.Load().MaxEntries {
		return true
	}
	e := r.roster.spare()
	if e != nil {
		r.forgetLocked(e, now)
	}
	return e != nil
}

// punishLocked bans a client for what it did, longer each time.
func (r *Registry) punishLocked(e *entry, cause, note string, now time.Time) {
	s := r.settings.Load()
	n := e.offenses() + 1
	r.banLocked(e, &Ban{
		Client: e.client, Since: now, Until: now.Add(escalate(s.Cooldown, s.MaxCooldown, n)),
		Offenses: n, Cause: cause, Note: note,
	})
}

// banLocked makes b the running ban of an entry on the roster.
func (r *Registry) banLocked(e *entry, b *Ban) {
	var before *Ban
	if e.running {
		before = e.ban
	}
	r.roster.run(e, b)
	if isRange(e.client) {
		r.wide.Store(newRanges(r.roster.ranges))
	} else {
		r.single.put(idOf(e.client.Addr()), b)
	}
	r.bans.Add(1)
	r.tellLocked(Event{Kind: Banned, At: b.Since, Ban: b, Before: before})
}
