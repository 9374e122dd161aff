package history

import (
	"time"

	"github.com/andreimerlescu/concert/internal/chain"
)

// byRestart is who lifts a ban that holds by the files, but not any more.
const byRestart = "restart"

// settle puts what the files say before what has happened since the start.
func (h *History) settle(r *replay) {
	h.mu.Lock()
	defer h.mu.Unlock()
	found := h.bans.all
	h.bans.all = nil
	for _, w := range r.bans.all {
		h.settleBan(w, r.now)
	}
	for _, w := range found {
		if len(h.bans.all) >= MaxBans {
			h.bans.makeRoom(r.now)
		}
		h.bans.all = append(h.bans.all, w)
	}
	h.bans.paths += r.bans.paths
	h.last = max(h.last, r.last)
	h.ready = true
	for _, w := range h.bans.all {
		h.numberLocked(w)
		if !w.announced {
			h.bans.change(w)
		}
	}
	for _, l := range []*chain.Chain[client]{h.clients.plain, h.clients.flagged} {
		for c := l.First(); c != nil; c = c.place.Next() {
			r.clients.merge(c)
		}
	}
	r.clients.evicted += h.clients.evicted
	h.clients = r.clients
	h.clients.expire(r.now.Add(-Keep))
	h.bans.expire(r.now, r.now.Add(-Keep))
}

// settleBan takes a ban from the files. One that still holds is the one that
// was restored at the start; one that should hold and does not was lifted while
// nobody wrote it down.
func (h *History) settleBan(w *window, now time.Time) {
	live := h.bans.inForce[w.target]
	switch {
	case !w.active(now):
	case live != nil && !live.known && live.number == 0:
		live.number, live.known, live.begin = w.number, w.known, w.begin
		live.absorb(w)
		w.merged = live
		live.queued = !stamp(live.until).Equal(stamp(w.until)) // else the files have it all
		return
	default:
		h.bans.lift(w, now, byRestart)
	}
	h.bans.all = append(h.bans.all, w)
}

// absorb adds what is known of the same ban's earlier part.
func (w *window) absorb(old *window) {
	w.source, w.changes, w.trigger = old.source, w.changes+old.changes, old.trigger
	w.announced, w.logged = old.announced, w.logged+old.logged
	w.requests += old.requests
	w.otherPaths += old.otherPaths
	for path, n := range old.paths {
		w.paths[path] += n
	}
	for key, v := range old.visitors {
		w.visitor(key).requests += v.requests
	}
	w.others.requests += old.others.requests
}

// merge puts a client's later part behind what is known of it already.
func (t *clients) merge(c *client) {
	old := t.touch(c.key, c.flagged)
	old.requests += c.requests
	old.blocked += c.blocked
	old.errors += c.errors
	old.seen(c.first)
	old.seen(c.last)
	c.oldestFirst(func(e entry, agent string) {
		old.pushed++
		e.agent = old.agent(agent)
		old.push(e)
	})
}
