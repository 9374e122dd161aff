package history

import (
	"context"
	"os"
	"sync/atomic"
	"time"
)

// maxBuffer is how much may wait for the disk before the writer takes no more.
const maxBuffer = 1 << 20

// writer writes the files. Everything in it but the counters belongs to the
// goroutine that runs History.Run.
type writer struct {
	h    *History
	path string
	max  int64

	file *os.File // nil: to be opened
	size int64
	buf  []byte    // whole lines, apart from what a failed write has done already
	next time.Time // not to be written before

	masked   [olderFiles + 1]bool // every line of that file is as old as masking needs
	nextMask time.Time

	lines, bad, rotations, failures atomic.Uint64
	trouble                         atomic.Pointer[string] // the last failure; nil while all is well
}

// Run replays the files, then writes them and sweeps the memory, until ctx
// ends. It returns when everything recorded before that is on disk.
func (h *History) Run(ctx context.Context) {
	if h.writer != nil {
		h.settle(h.writer.replay(time.Now()))
		h.writer.fail(h.writer.open(), time.Now()) // its size decides when to rotate
	}
	flush, sweep := time.NewTicker(flushEvery), time.NewTicker(time.Minute)
	defer flush.Stop()
	defer sweep.Stop()
	for {
		var queue chan request // nil, and never ready, while the disk is in trouble
		if h.writer != nil && h.writer.willing(time.Now()) {
			queue = h.queue
		}
		select {
		case q := <-queue:
			h.writer.addRequest(&q)
		case <-flush.C:
			h.writer.tick(time.Now())
		case <-sweep.C:
			h.Sweep(time.Now())
			if !h.leaving.Load() {
				h.writer.mask(time.Now())
			}
		case <-ctx.Done():
			h.writer.finish()
			return
		}
	}
}

// willing reports whether more may be written now.
func (w *writer) willing(now time.Time) bool {
	return !now.Before(w.next) && len(w.buf) < maxBuffer
}

// addRequest writes a request's line, behind the begin of its ban.
func (w *writer) addRequest(q *request) {
	ban := q.ban.real()
	if ban != nil {
		if !ban.announced {
			w.addBan(ban, time.Now())
		}
		if q.blocked {
			ban.logged++
		}
	}
	e := requestEvent(q, w.h.opt.Details)
	w.add(&e)
}

// addBan writes the state of a ban, if it has changed since it was written.
func (w *writer) addBan(ban *window, now time.Time) {
	w.h.mu.Lock()
	if ban.announced && !ban.queued {
		w.h.mu.Unlock()
		return
	}
	ban.queued, ban.announced = false, true
	events := banEvents(ban, now)
	w.h.mu.Unlock()
	for i := range events {
		w.add(&events[i])
	}
}

// add puts an event into the buffer, and the buffer into the file when either
// is full.
func (w *writer) add(e *event) {
	before := len(w.buf)
	w.buf = appendEvent(w.buf, e)
	w.lines.Add(1)
	if w.size+int64(len(w.buf)) > w.max && w.size+int64(before) > 0 {
		w.rotate(before)
	}
	if len(w.buf) >= maxBuffer/2 {
		w.flush(time.Now())
	}
}

// tick writes what became due in the last second.
func (w *writer) tick(now time.Time) {
	if w == nil {
		return
	}
	if w.willing(now) {
		w.addDue(now)
	}
	w.flush(now)
}

// addDue writes bans that changed and aggregates, as far as there is room.
func (w *writer) addDue(now time.Time) {
	h := w.h
	h.mu.Lock()
	changed, flooded := h.bans.changed, h.bans.flooded
	h.bans.changed, h.bans.flooded = nil, nil
	h.mu.Unlock()
	for _, ban := range changed {
		if ban.merged == nil {
			w.addBan(ban, now)
		}
	}
	for i, v := range flooded {
		if !w.willing(now) {
			h.mu.Lock()
			h.bans.flooded = append(h.bans.flooded, flooded[i:]...)
			h.mu.Unlock()
			return
		}
		w.addFlood(v)
	}
}

// addFlood writes what a visitor has asked for since the last time.
func (w *writer) addFlood(v *visitor) {
	w.h.mu.Lock()
	f := v.flood
	v.flood = flood{}
	w.h.mu.Unlock()
	ban := v.ban.real()
	ban.logged += f.count
	e := floodEvent(&f, ban.number)
	w.add(&e)
}

// finish writes everything there is.
func (w *writer) finish() {
	if w == nil {
		return
	}
	w.next = time.Time{} // the last chance
	for {
		select {
		case q := <-w.h.queue:
			w.addRequest(&q)
			continue
		default:
		}
		break
	}
	w.tick(time.Now())
	if w.file != nil {
		w.fail(w.file.Close(), time.Now())
		w.file = nil
	}
}
