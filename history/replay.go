package history

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"time"

	"github.com/andreimerlescu/concert/clientip"
)

// replay is what the files say, while they are read.
type replay struct {
	now     time.Time
	clients clients
	bans    bans
	numbers map[uint64]*window
	last    uint64 // the highest number
	bad     uint64 // lines that made no sense
}

func newReplay(now time.Time) *replay {
	return &replay{now: now, clients: newClients(), bans: newBans(), numbers: make(map[uint64]*window)}
}

// replay reads the files, oldest first. It is not cut short, not even by a stop:
// what comes to be written needs to know which numbers are taken.
func (w *writer) replay(now time.Time) *replay {
	r := newReplay(now)
	for n := olderFiles; n >= 0; n-- {
		if err := r.file(w.older(n)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			w.h.opt.Log.Warn("history log not replayed", "file", w.older(n), "error", err)
		}
	}
	w.bad.Store(r.bad)
	return r
}

func (r *replay) file(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close() // only read from
	return r.read(f)
}

// read takes every line that makes sense. A line that is too long is skipped
// like any other that does not.
func (r *replay) read(from io.Reader) error {
	tooLong, err := eachLine(from, func(line []byte) error {
		if !r.line(line) {
			r.bad++
		}
		return nil
	})
	r.bad += tooLong
	return err
}

// line takes one line, and reports whether it makes sense. Blank lines do.
func (r *replay) line(line []byte) bool {
	if len(line) == 1 {
		return true
	}
	var e event
	if json.Unmarshal(line, &e) != nil || e.At.IsZero() || e.Ban > 1<<53 {
		return false
	}
	if e.At.After(r.now) { // the clock was set back; what lies ahead would never end
		e.At = r.now
	}
	switch e.T {
	case kindRequest:
		return r.request(&e)
	case kindAggregate:
		return r.aggregate(&e)
	case kindBan:
		return r.ban(&e)
	case kindLift:
		return r.lift(&e)
	case kindTrigger:
		return r.trigger(&e)
	}
	return false
}

// readClient reads an address, or the network of a masked one.
func readClient(text string) (netip.Addr, netip.Prefix, bool) {
	if p, err := netip.ParsePrefix(text); err == nil {
		return p.Masked().Addr(), p.Masked(), true
	}
	a, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Addr{}, netip.Prefix{}, text == ""
	}
	a = a.WithZone("").Unmap()
	return a, clientip.KeyOf(a), true
}

// window returns the ban of a number, made if no line told of its begin.
func (r *replay) window(e *event, target netip.Prefix) *window {
	if e.Ban == 0 {
		return nil
	}
	w := r.numbers[e.Ban]
	if w == nil {
		r.bans.makeRoom(r.now)
		w = newWindow(Ban{Target: target, Until: e.At})
		w.number, w.begin = e.Ban, e.At
		r.numbers[e.Ban] = w
		r.last = max(r.last, e.Ban)
		r.bans.all = append(r.bans.all, w)
	}
	if !w.announced && e.At.After(w.until) {
		w.until = e.At // nobody told how long it was to last
	}
	return w
}

func (r *replay) request(e *event) bool {
	addr, key, ok := readClient(e.IP)
	if !ok {
		return false
	}
	w := r.window(e, key)
	q := request{
		at: e.At, addr: addr, key: key, method: cutMethod(e.Method), path: cutPath(e.Path, true), agent: cutAgent(e.UA),
		rank: cut(e.Rank, maxMethod), room: cut(e.Room, maxRoom), latency: time.Duration(e.LatencyUS) * time.Microsecond,
		status: e.Status & 0x3ff, blocked: e.Blocked, triggered: e.Triggered, ban: w,
	}
	if w != nil && e.Blocked {
		r.bans.count(w, &q)
		w.logged++
	}
	if w != nil && e.Triggered {
		w.trigger = &Trigger{Client: addrText(addr), Method: q.method, Path: q.path, Status: q.status, At: q.at}
	}
	if r.now.Sub(e.At) < Keep {
		r.clients.add(&q)
	}
	return true
}

func (r *replay) aggregate(e *event) bool {
	_, key, ok := readClient(e.IP)
	if !ok || e.Count > 1<<53 {
		return false
	}
	if w := r.window(e, key); w != nil {
		w.requests += e.Count
		w.logged += e.Count
		w.otherPaths += e.OtherPaths
		for path, n := range e.Paths {
			r.bans.countPath(w, cutPath(path, true), n)
		}
		w.visitor(key).requests += e.Count
	}
	if key.IsValid() && r.now.Sub(e.At) < Keep {
		c := r.clients.touch(key, true)
		c.requests += e.Count
		c.blocked += e.Count
		c.seen(e.At.UnixNano())
	}
	return true
}

func (r *replay) ban(e *event) bool {
	target, err := netip.ParsePrefix(e.Scope)
	if err != nil {
		_, target, _ = readClient(e.Target)
	}
	if !target.IsValid() || e.Ban == 0 || e.Permanent != e.Until.IsZero() {
		return false
	}
	w := r.window(e, target.Masked())
	w.target = target.Masked()
	w.known = !e.Begin.IsZero()
	if w.known {
		w.begin = e.Begin
	}
	w.until, w.changes, w.source = e.Until, e.Changes, cut(e.Source, maxPath)
	if e.Requests > 0 && e.Requests < 1<<53 {
		w.requests, w.logged = e.Requests, e.Requests
	}
	w.announced = true
	return true
}

func (r *replay) lift(e *event) bool {
	w := r.numbers[e.Ban]
	if w == nil {
		return false
	}
	w.lifted, w.liftedBy = e.At, cut(e.By, maxPath)
	return true
}

func (r *replay) trigger(e *event) bool {
	w := r.numbers[e.Ban]
	if w == nil || e.Trigger == nil {
		return false
	}
	t := *e.Trigger
	t.Client, t.Method, t.Path = cut(t.Client, 64), cutMethod(t.Method), cutPath(t.Path, true)
	w.trigger = &t
	return true
}
