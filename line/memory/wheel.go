package memory

import "time"

const (
	tickLength = 32 * time.Millisecond
	wheelTicks = 4096 // a revolution is about two minutes
)

// wheel files tickets under the tick after their due time, in intrusive
// lists. A due time that moves later is left where it is filed and filed again
// when that tick comes, so that a poll costs one store; times beyond a
// revolution wait in its last tick. After Varghese and Lauck, "Hashed and
// Hierarchical Timing Wheels" (1987).
type wheel struct {
	slab  *slab
	heads [wheelTicks]int32
	done  int64 // ticks up to this one have been drained
	count int
}

// tickAfter is the first tick at which due has passed.
func tickAfter(due instant) int64 { return int64(due)/int64(tickLength) + 1 }

// set changes i's due time.
func (w *wheel) set(i int32, due instant) {
	t := w.slab.at(i)
	t.due = due
	// Between 1 and wheelTicks-1 ticks from now, as is every filed one.
	in := min(max(tickAfter(due)-w.done, 1), wheelTicks-1)
	if t.filed != 0 {
		if in >= (int64(t.filed)-1-w.done)&(wheelTicks-1) {
			return
		}
		w.unlink(i)
	}
	w.link(i, t, (w.done+in)%wheelTicks)
}

func (w *wheel) link(i int32, t *ticket, list int64) {
	head := &w.heads[list]
	t.filed, t.prev, t.next = uint16(list+1), 0, *head
	if *head != 0 {
		w.slab.at(*head).prev = i
	}
	*head = i
	w.count++
}

// unlink takes i out of its list, if it is in one.
func (w *wheel) unlink(i int32) {
	t := w.slab.at(i)
	if t.filed == 0 {
		return
	}
	if t.prev == 0 {
		w.heads[t.filed-1] = t.next
	} else {
		w.slab.at(t.prev).next = t.next
	}
	if t.next != 0 {
		w.slab.at(t.next).prev = t.prev
	}
	t.filed, t.next, t.prev = 0, 0, 0
	w.count--
}

// drain unfiles tickets that came due by now and calls lapsed with each, at
// most budget of them; it reports whether more are due.
func (w *wheel) drain(now instant, budget int, lapsed func(now instant, i int32)) (more bool) {
	target := int64(now) / int64(tickLength)
	if w.count == 0 {
		w.done = max(w.done, target)
		return false
	}
	// One revolution passes every list, so longer absences need no more.
	w.done = max(w.done, target-wheelTicks)
	for w.done < target {
		head := &w.heads[(w.done+1)%wheelTicks]
		for *head != 0 {
			if budget == 0 {
				return true
			}
			budget--
			i := *head
			w.unlink(i)
			if t := w.slab.at(i); t.due <= now {
				lapsed(now, i)
			} else {
				w.set(i, t.due)
			}
		}
		w.done++
	}
	return false
}

// next is when the first filed ticket may be due, if that is before limit;
// otherwise limit.
func (w *wheel) next(limit instant) instant {
	if w.count == 0 {
		return limit
	}
	last := min(int64(limit)/int64(tickLength), w.done+wheelTicks)
	for tick := w.done + 1; tick <= last; tick++ {
		if w.heads[tick%wheelTicks] != 0 {
			return instant(tick * int64(tickLength))
		}
	}
	return limit
}
