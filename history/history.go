package history

import (
	"log/slog"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/andreimerlescu/concert/paths"
	"github.com/andreimerlescu/concert/pipeline"
)

// History remembers requests and bans. Use [New], and keep Run going.
type History struct {
	opt      Options
	settings atomic.Pointer[Settings]
	queue    chan request // to the writer; nil without a file
	dropped  atomic.Uint64
	causes   atomic.Int64 // len(caused)
	leaving  atomic.Bool  // another process has the files, too: see Leave
	writer   *writer      // nil without a file

	mu      sync.Mutex // guards the fields below
	clients clients
	bans    bans
	causing map[netip.Prefix][]*pipeline.Visit // visits inside Cause, by client
	caused  map[*pipeline.Visit]*window        // unfinished visits that started a ban
	last    uint64                             // the last number given to a ban
	ready   bool                               // the files have been replayed, so numbers can be given
}

var _ pipeline.Observer = (*History)(nil)

// Leave has this process, while leaving is true, add to the file and do nothing
// else to it and the older ones: another process has taken over, which rotates
// and masks them.
func (h *History) Leave(leaving bool) { h.leaving.Store(leaving) }

// New returns a history that knows only the bans in force.
func New(o Options) *History {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.maxFile == 0 {
		o.maxFile = MaxFileBytes
	}
	h := &History{
		opt: o, clients: newClients(), bans: newBans(),
		causing: make(map[netip.Prefix][]*pipeline.Visit), caused: make(map[*pipeline.Visit]*window),
	}
	h.Apply(o.Settings)
	now := time.Now()
	for _, b := range o.InForce {
		b.Since = time.Time{} // the files know when it began, or nobody does
		w := h.bans.begin(b, now)
		w.begin = now
	}
	if o.File == "" {
		h.settle(newReplay(now))
		return h
	}
	h.queue = make(chan request, queueLength)
	h.writer = &writer{h: h, path: o.File, max: o.maxFile}
	return h
}

// Apply changes the settings.
func (h *History) Apply(s Settings) { h.settings.Store(&s) }

// Observe implements pipeline.Observer: it records the visit if it is one of
// those that are kept.
func (h *History) Observe(v *pipeline.Visit) {
	s := h.settings.Load()
	// A poll of a banned client is answered 200, so that its page reloads.
	blocked := v.Reason == pipeline.Banned || v.Reason == pipeline.Blocked || v.Turned
	started := h.causes.Load() > 0
	if !started && (!s.On || !blocked && !isKept(v)) {
		return
	}
	var q request
	q.fill(v, s.Query)
	q.blocked = blocked
	h.record(v, &q, s.On)
}

// isKept reports whether a visit that no ban is about is recorded.
func isKept(v *pipeline.Visit) bool {
	if status := v.Status(); status >= 400 || status == 0 {
		return true
	}
	switch v.Class {
	case pipeline.Asset, pipeline.PublicAsset:
		return false
	case pipeline.Operations:
		return !paths.Polled(v.Path.Clean)
	}
	return true
}

// record puts a request into the table and hands it to the writer.
func (h *History) record(v *pipeline.Visit, q *request, on bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.attribute(v, q)
	if !on || !q.blocked && !q.triggered && !isKept(v) {
		return
	}
	h.clients.add(q)
	h.writeLocked(q)
}

// attribute finds the ban that a request ran into or started.
func (h *History) attribute(v *pipeline.Visit, q *request) {
	if w := h.caused[v]; w != nil {
		delete(h.caused, v)
		h.causes.Add(-1)
		q.ban = w
		h.triggeredBy(w, q)
		return
	}
	if !q.blocked {
		return
	}
	w := h.bans.covering(q.key, q.at)
	if w == nil {
		w = h.bans.stray
	}
	if q.ban = w; w == nil {
		return
	}
	if w.known && w.trigger == nil && w.begin.Equal(v.Start) {
		h.triggeredBy(w, q)
	}
}

func (h *History) triggeredBy(w *window, q *request) {
	q.triggered = true
	h.bans.change(w)
	w.trigger = &Trigger{Client: addrText(q.addr), Method: q.method, Path: q.path, Status: q.status, At: stamp(q.at)}
}

// writeLocked hands a request to the writer, or counts it towards a common line.
func (h *History) writeLocked(q *request) {
	if !q.blocked {
		h.enqueue(q)
		return
	}
	v, single := h.bans.count(q.ban, q)
	if h.queue == nil {
		return
	}
	if single || q.triggered {
		select {
		case h.queue <- *q:
			return
		default: // a blocked request is not lost: it is aggregated
		}
	}
	h.bans.aggregate(v, q)
}

func (h *History) enqueue(q *request) {
	if h.queue == nil {
		return
	}
	select {
	case h.queue <- *q:
	default:
		h.dropped.Add(1)
	}
}

// Cause runs act, which may strike the visit's client. A ban of that client
// that begins meanwhile was started by this visit.
func (h *History) Cause(v *pipeline.Visit, act func()) {
	key := v.Client.Key
	h.mu.Lock()
	h.causing[key] = append(h.causing[key], v)
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		left := h.causing[key]
		for i := range left {
			if left[i] == v {
				left = append(left[:i], left[i+1:]...)
				break
			}
		}
		if h.causing[key] = left; len(left) == 0 {
			delete(h.causing, key)
		}
	}()
	act()
}

// Banned takes a ban that began, or that changed while it held.
func (h *History) Banned(b Ban) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.bans.begin(b, b.Since)
	if visits := h.causing[b.Target]; w.changes == 0 && len(visits) > 0 {
		h.caused[visits[0]] = w
		h.causes.Store(int64(len(h.caused)))
	}
	h.numberLocked(w)
}

// Lifted takes the end of a ban before its time.
func (h *History) Lifted(target netip.Prefix, at time.Time, by string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if w := h.bans.inForce[target]; w != nil && w.active(at) {
		h.bans.lift(w, at, by)
	}
}

// numberLocked gives a ban its number, once it is known which are taken.
func (h *History) numberLocked(w *window) {
	if h.ready && w.number == 0 {
		h.last++
		w.number = h.last
	}
}

// Sweep drops what is over and masks what is old. Run calls it once a minute.
func (h *History) Sweep(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clients.expire(now.Add(-Keep))
	h.bans.expire(now, now.Add(-Keep))
	if after := h.settings.Load().MaskAfter; after > 0 {
		h.maskLocked(now.Add(-after))
	}
}
