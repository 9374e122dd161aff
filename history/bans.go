package history

import (
	"net/netip"
	"time"
)

// bans are the bans that are remembered, in force or over.
type bans struct {
	all     []*window // in the order they began or were found
	inForce map[netip.Prefix]*window
	lengths [129]int // how many in force have a prefix of that length, IPv4 counted from 96
	stray   *window  // blocked requests whose ban nobody told of
	paths   int      // that all windows tell apart
	changed []*window
	flooded []*visitor
}

// flood are requests that will share a line.
type flood struct {
	first, last time.Time
	addr        netip.Addr
	count       uint64
	paths       map[string]uint64
	otherPaths  uint64
}

func newBans() bans {
	b := bans{inForce: make(map[netip.Prefix]*window)}
	b.stray = newWindow(Ban{})
	b.stray.announced = true
	return b
}

func (b *bans) enforce(w *window) {
	b.inForce[w.target] = w
	b.lengths[lengthOf(w.target)]++
}

func (b *bans) release(w *window) {
	if b.inForce[w.target] == w {
		delete(b.inForce, w.target)
		b.lengths[lengthOf(w.target)]--
	}
}

// covering returns the narrowest ban in force that holds for a client, or nil.
func (b *bans) covering(key netip.Prefix, now time.Time) *window {
	if len(b.inForce) == 0 || !key.IsValid() {
		return nil
	}
	first := 96
	if key.Addr().Is6() {
		first = 0
	}
	for n := lengthOf(key); n >= first; n-- {
		if b.lengths[n] == 0 {
			continue
		}
		p, err := key.Addr().Prefix(n - first)
		if err != nil {
			continue
		}
		if w := b.inForce[p]; w != nil && w.active(now) {
			return w
		}
	}
	return nil
}

// begin takes a ban that begins or changes.
func (b *bans) begin(ban Ban, now time.Time) *window {
	w := b.inForce[ban.Target]
	if w != nil && w.active(now) {
		w.until, w.changes = ban.Until, w.changes+1
		b.change(w)
		return w
	}
	if w != nil {
		b.release(w)
	}
	b.makeRoom(now)
	w = newWindow(ban)
	b.all = append(b.all, w)
	b.enforce(w)
	b.change(w)
	return w
}

// lift ends a ban early.
func (b *bans) lift(w *window, at time.Time, by string) {
	w.lifted, w.liftedBy = at, by
	b.release(w)
	b.change(w)
}

// change has the writer write the ban's state.
func (b *bans) change(w *window) {
	if !w.queued {
		w.queued = true
		b.changed = append(b.changed, w)
	}
}

// makeRoom drops the ban that ended first, or began first when none has ended.
func (b *bans) makeRoom(now time.Time) {
	if len(b.all) < MaxBans {
		return
	}
	victim := 0
	for i, w := range b.all {
		v := b.all[victim]
		switch {
		case w.active(now):
		case v.active(now), w.ended().Before(v.ended()):
			victim = i
		}
	}
	b.forget(victim)
}

func (b *bans) forget(i int) {
	w := b.all[i]
	b.release(w)
	b.paths -= len(w.paths)
	w.paths, w.visitors = nil, nil // entries of clients may still point here
	b.all = append(b.all[:i], b.all[i+1:]...)
}

// expire drops bans that ended before a time, and takes those that are over out
// of force.
func (b *bans) expire(now, before time.Time) {
	for i := len(b.all) - 1; i >= 0; i-- {
		w := b.all[i]
		if w.active(now) {
			continue
		}
		b.release(w)
		if w.ended().Before(before) {
			b.forget(i)
		}
	}
}

// count adds a blocked request, and reports whether it is one of those that
// still get a line of their own.
func (b *bans) count(w *window, q *request) (v *visitor, single bool) {
	v = w.visitor(q.key)
	w.requests++
	v.requests++
	b.countPath(w, q.path, 1)
	return v, v.requests <= SingleLines
}

func (b *bans) countPath(w *window, path string, n uint64) {
	if _, ok := w.paths[path]; !ok {
		if len(w.paths) >= maxPerBan || b.paths >= maxBanPaths || w.paths == nil {
			w.otherPaths += n
			return
		}
		b.paths++
	}
	w.paths[path] += n
}

// aggregate adds a request to the visitor's next common line.
func (b *bans) aggregate(v *visitor, q *request) {
	f := &v.flood
	if f.count == 0 {
		f.first = q.at
		b.flooded = append(b.flooded, v)
	}
	f.count++
	f.last = q.at
	if v.key.IsValid() {
		f.addr = q.addr
	}
	if f.paths == nil {
		f.paths = make(map[string]uint64)
	}
	if _, ok := f.paths[q.path]; !ok && len(f.paths) >= maxPerBan {
		f.otherPaths++
		return
	}
	f.paths[q.path]++
}
