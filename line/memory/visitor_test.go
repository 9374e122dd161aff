package memory

import (
	"time"

	"github.com/andreimerlescu/concert/line"
)

// come is a page request.
func (w *world) come(v *visitor) {
	if v.served || v.gone || v.door != nil {
		return
	}
	e := page(v.id)
	e.Ticket = v.ticket
	d, _ := w.l.Enter(w.t.Context(), w.now, e)
	switch d.Verdict {
	case line.Admitted:
		w.watch.direct(v)
		w.serve(v, d.Slot)
	case line.AtDoor:
		w.stand(v, d)
	case line.Waiting:
		w.told(v, d.Place)
	case line.Full:
		w.after(2*time.Second, func() { w.come(v) })
	default:
		w.t.Fatalf("visitor %d: verdict %v", v.id, d.Verdict)
	}
}

func (w *world) serve(v *visitor, s line.Slot) {
	v.served = true
	w.order = append(w.order, v.id)
	d := w.crowd.service(w.rnd, w.now.Sub(start))
	w.busy += d
	w.after(d, func() {
		w.lastEnd = w.now
		w.l.Release(w.now, s)
	})
}

func (w *world) stand(v *visitor, d line.Decision) {
	v.door, v.until, v.number = d.Door, d.Until, d.Place.Ticket.Number
	w.standing[v] = true
	dr := d.Door
	leave := func(gone bool) func() {
		return func() {
			if v.door == dr {
				w.leaveDoor(v, gone)
			}
		}
	}
	w.after(d.Until.Sub(w.now), leave(false))
	if w.rnd.Float64() < w.crowd.hangUps {
		w.after(time.Duration(w.rnd.Float64()*float64(d.Until.Sub(w.now))), leave(true))
	}
}

// leaveDoor ends a stand. Who hangs up reloads a moment later.
func (w *world) leaveDoor(v *visitor, gone bool) {
	d := v.door.Leave(w.now, gone)
	delete(w.standing, v)
	v.door = nil
	switch {
	case d.Verdict == line.Admitted:
		w.watch.direct(v)
		w.serve(v, d.Slot)
	case gone:
		if v.ticket.IsZero() {
			v.number = 0
		}
		w.after(w.trip(), func() { w.come(v) })
	default:
		w.told(v, d.Place)
	}
}

// trip is the time of a reload.
func (w *world) trip() time.Duration {
	return 10*time.Millisecond + time.Duration(w.rnd.ExpFloat64()*float64(20*time.Millisecond))
}

// told has the visitor wait for its next poll, or leave.
func (w *world) told(v *visitor, p line.Place) {
	first := v.ticket.IsZero()
	v.ticket, v.number = p.Ticket, p.Ticket.Number
	w.checkPosition(v, p)
	if first && w.leaveEarly(v, p) {
		return
	}
	w.nextPoll(v, p)
}

// leaveEarly decides about a newcomer's patience.
func (w *world) leaveEarly(v *visitor, p line.Place) bool {
	switch x := w.rnd.Float64(); {
	case x < w.crowd.ghosts:
		v.leaves, v.gone = true, true
		return true
	case x < w.crowd.ghosts+w.crowd.quitters:
		v.leaves = true
		stay := time.Duration(w.rnd.Float64() * float64(max(p.ETA, 2*time.Second)))
		w.after(stay, func() {
			if v.served || v.door != nil {
				return
			}
			v.gone = true
			if w.rnd.Float64() < w.crowd.back {
				w.after(time.Duration(w.rnd.Float64()*20*float64(time.Second)), func() {
					v.gone = false
					w.come(v)
				})
			}
		})
	}
	return false
}

func (w *world) nextPoll(v *visitor, p line.Place) {
	if v.paced {
		return
	}
	v.paced = true
	gap := p.PollAfter
	pace := w.crowd.poll
	if pace == mixed {
		pace = paces[v.id%3]
	}
	if pace > 0 {
		gap = pace + time.Duration((w.rnd.Float64()-0.5)*0.2*float64(pace))
	}
	w.after(gap+5*time.Millisecond, func() {
		v.paced = false
		if v.gone || v.served || v.door != nil {
			return
		}
		if w.rnd.Float64() < w.crowd.reloads {
			w.come(v)
			return
		}
		w.poll(v)
	})
}

func (w *world) poll(v *visitor) {
	w.polls++
	st, _ := w.l.Poll(w.t.Context(), w.now, v.ticket)
	switch {
	case !st.Known:
		if !v.leaves {
			w.t.Fatalf("visitor %d was lost at %v", v.id, w.now.Sub(start))
		}
		v.ticket, v.number, v.position = line.Ticket{}, 0, 0
		w.after(w.trip(), func() { w.come(v) })
	case st.Ready:
		w.checkPosition(v, st.Place)
		w.after(w.trip(), func() { w.come(v) })
	default:
		w.checkPosition(v, st.Place)
		w.nextPoll(v, st.Place)
	}
}
