package memory

import (
	"container/heap"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/line"
)

// A world drives a line with simulated visitors in virtual time: what happens
// is an event, and after each event the properties of check_test.go are
// checked.
type world struct {
	t      *testing.T
	l      *Line
	rnd    *rand.Rand
	now    time.Time
	events agenda
	seq    int

	crowd    crowd
	visitors []*visitor
	standing map[*visitor]bool
	order    []int // visitors in order of admission
	busy     time.Duration
	lastEnd  time.Time
	polls    int
	doorPeak int
	watch    watch
}

// crowd describes a simulated crowd. Times are virtual.
type crowd struct {
	visitors int
	arrive   time.Duration // they come evenly spread over this
	service  func(rnd *rand.Rand, since time.Duration) time.Duration
	slots    int
	poll     time.Duration // 0: ask again when told to; or mixed
	settings func(*line.Settings)

	ghosts   float64 // share that leaves before the first poll
	quitters float64 // share that leaves in the middle of the wait
	back     float64 // share of the quitters that comes back within 20 s
	hangUps  float64 // share of stands at the door that end with a hang-up
	reloads  float64 // share of polls that are page reloads instead

	script func(*world) // schedules what else happens
	limit  time.Duration
}

type visitor struct {
	id       int
	ticket   line.Ticket
	number   uint64 // its place, told or not
	position int
	leaves   bool // will not wait to the end
	gone     bool
	served   bool
	door     line.Door
	slot     line.Slot // granted at the door
	until    time.Time
	paced    bool // a next poll is scheduled
}

type event struct {
	at  time.Time
	seq int
	do  func()
}

type agenda []event

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	return a[i].at.Before(a[j].at) || a[i].at.Equal(a[j].at) && a[i].seq < a[j].seq
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(event)) }
func (a *agenda) Pop() any {
	e := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return e
}

func (w *world) after(d time.Duration, do func()) {
	w.seq++
	heap.Push(&w.events, event{w.now.Add(max(d, 0)), w.seq, do})
}

// simulate runs a crowd to its end.
func simulate(t *testing.T, c crowd) *world {
	t.Helper()
	s := settings(c.slots)
	if c.settings != nil {
		c.settings(&s)
	}
	w := &world{
		t: t, l: newLine(s), rnd: rand.New(rand.NewPCG(3, 4)), now: start,
		crowd: c, standing: make(map[*visitor]bool),
	}
	for k := range c.visitors {
		v := &visitor{id: k}
		w.visitors = append(w.visitors, v)
		w.after(c.arrive*time.Duration(k)/time.Duration(c.visitors), func() { w.come(v) })
	}
	if c.script != nil {
		c.script(w)
	}
	w.after(0, w.advance)
	end := start.Add(c.limit)
	for len(w.events) > 0 && !w.over() {
		e := heap.Pop(&w.events).(event)
		w.now = e.at
		if w.now.After(end) {
			break
		}
		w.step(e.do)
	}
	return w
}

// over reports whether everybody has been served or is gone for good.
func (w *world) over() bool {
	if w.l.slots.out > 0 {
		return false
	}
	for _, v := range w.visitors {
		if !v.served && !v.gone {
			return false
		}
	}
	return true
}

// step lets the line catch up with the time, then runs one event, checking
// after both.
func (w *world) step(do func()) {
	w.observe(func() { w.l.Stats(w.now) })
	w.observe(do)
	select {
	case <-w.l.Wake():
		w.after(0, w.advance)
	default:
	}
}

func (w *world) observe(do func()) {
	w.watch.before(w)
	do()
	w.watch.after(w)
	w.collect()
}

func (w *world) advance() {
	next, _ := w.l.Advance(w.t.Context(), w.now)
	if !next.IsZero() {
		w.after(next.Sub(w.now), w.advance)
	}
}

// collect serves those whose stand at the door has ended.
func (w *world) collect() {
	w.doorPeak = max(w.doorPeak, len(w.standing))
	if w.watch.granted == 0 {
		return
	}
	for v := range w.standing {
		select {
		case <-v.door.Done():
			d := v.door.Outcome()
			delete(w.standing, v)
			v.door = nil
			if d.Verdict != line.Admitted {
				w.t.Fatalf("visitor %d: outcome %v at the door", v.id, d.Verdict)
			}
			v.slot = d.Slot
			w.watch.doorGrants = append(w.watch.doorGrants, v)
		default:
		}
	}
	w.watch.serveGrants(w)
}
