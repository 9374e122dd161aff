package memory

import (
	"slices"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/line"
)

// watch checks, around every step of a world, what must always hold: invariants
// 1, 2 and 3.
type watch struct {
	admitted   uint64
	passedSum  uint64
	granted    int
	doorGrants []*visitor
	directs    []*visitor
	idleSince  time.Time
	idling     bool
	steps      int
}

func (c *watch) before(w *world) {
	c.admitted = w.l.tally.admitted
	c.passedSum = w.l.tally.passed
	c.directs, c.doorGrants = c.directs[:0], c.doorGrants[:0]
}

// direct notes a visitor who was admitted by the call itself.
func (c *watch) direct(v *visitor) { c.directs = append(c.directs, v) }

func (c *watch) after(w *world) {
	c.granted = int(w.l.tally.admitted - c.admitted)
	c.steps++
	p := w.l.set.Policy
	if c.granted > 0 && p.Cap > 0 && w.l.slots.out > p.Cap {
		w.t.Fatalf("%d slots out of %d after a grant", w.l.slots.out, p.Cap)
	}
	c.checkIdle(w)
	if c.steps%3000 == 0 {
		checkSums(w.t, w.l)
		checkListing(w.t, w.l, w.now)
	}
}

// checkIdle holds invariant 3: no slot is idle while somebody stands at the door
// for longer than it may be kept.
func (c *watch) checkIdle(w *world) {
	n := instant(w.now.Sub(start))
	if w.l.order.total.standing() == 0 || w.l.free(n) <= 0 {
		c.idling = false
		return
	}
	if !c.idling {
		c.idling, c.idleSince = true, w.now
	}
	longest := max(2*maxReload, w.l.set.DoorWait)
	if d := w.now.Sub(c.idleSince); d > longest {
		w.t.Fatalf("a slot is idle for %v while %d stand at the door", d, w.l.atDoor)
	}
}

// serveGrants checks the order of the grants of one step and serves them.
func (c *watch) serveGrants(w *world) {
	last := uint64(0)
	for _, v := range slices.Concat(c.directs, c.doorGrants) {
		if v.number == 0 {
			last = ^uint64(0) // behind everybody
		}
		last = max(last, v.number)
	}
	checkAhead(w.t, w.l, instant(w.now.Sub(start)), last)
	slices.SortFunc(c.doorGrants, func(a, b *visitor) int { return a.id - b.id })
	for _, v := range c.doorGrants {
		w.serve(v, v.slot)
	}
}

// checkAhead holds invariant 2: nobody is at the door ahead of the last ticket
// that was let in, and no more absent ones with a claim than there are free slots.
func checkAhead(t *testing.T, l *Line, n instant, last uint64) {
	t.Helper()
	free, claims := max(0, l.free(n)), 0
	l.order.walk(0, func(i int32, k class, _ *counts) bool {
		number := l.slab.at(i).number
		if number >= last {
			return false
		}
		switch k {
		case door:
			t.Fatalf("ticket %d was let in before %d, which stands at the door", last, number)
		case polled, called:
			claims++
		}
		return true
	})
	if claims > free {
		t.Fatalf("ticket %d was let in with %d claims ahead and %d slots free", last, claims, free)
	}
}

func (w *world) checkPosition(v *visitor, p line.Place) {
	if p.Position != p.Ahead+1 || p.Position < 1 {
		w.t.Fatalf("visitor %d: position %d, ahead %d", v.id, p.Position, p.Ahead)
	}
	if v.position != 0 && p.Position > v.position {
		w.t.Fatalf("visitor %d: position rose from %d to %d", v.id, v.position, p.Position)
	}
	v.position = p.Position
}

// checkSums compares the tree with a plain count, and the chunks and the
// index with the tickets.
func checkSums(t *testing.T, l *Line) {
	t.Helper()
	var total counts
	tickets := 0
	for ord, id := range l.order.line {
		c := l.order.pool[id]
		if got := l.order.tree.prefix(int32(ord)); got != total {
			t.Fatalf("prefix of chunk %d is %v, want %v", ord, got, total)
		}
		var sum counts
		for k, i := range c.ids[:c.n] {
			sum[c.class[k]]++
			tk := l.slab.at(i)
			if tk.chunk != id {
				t.Fatalf("ticket %d says chunk %d, is in %d", tk.number, tk.chunk, id)
			}
			if !tk.has(flagGuest) {
				tickets++
				if l.numbers[tk.number] != i {
					t.Fatalf("ticket %d is not found by its number", tk.number)
				}
			}
			if stands := l.stands[i] != nil; stands != (c.class[k] == door || c.class[k] == guest) {
				t.Fatalf("ticket %d: class %d, but stands at the door: %v", tk.number, c.class[k], stands)
			}
		}
		if sum != c.sum {
			t.Fatalf("chunk %d counts %v, has %v", ord, c.sum, sum)
		}
		total.add(&sum)
	}
	if total != l.order.total || tickets != len(l.numbers) {
		t.Fatalf("line counts %v (%d numbers), has %v (%d tickets)", l.order.total, len(l.numbers), total, tickets)
	}
	clients := int32(0)
	for _, n := range l.clients {
		clients += n
	}
	if int(clients) > tickets {
		t.Fatalf("%d tickets of clients, of %d", clients, tickets)
	}
}

// checkListing has positions 1 to n, each ticket once.
func checkListing(t *testing.T, l *Line, now time.Time) {
	t.Helper()
	all, _ := l.List(t.Context(), now, 0, 1<<30)
	seen := make(map[uint64]bool, len(all))
	for k, o := range all {
		if o.Place.Position != k+1 || seen[o.Place.Ticket.Number] {
			t.Fatalf("entry %d has position %d, ticket %d", k, o.Place.Position, o.Place.Ticket.Number)
		}
		seen[o.Place.Ticket.Number] = true
	}
	if live := l.Stats(now).Live; live != len(all) {
		t.Fatalf("%d listed, %d live", len(all), live)
	}
}

// invertedShare is the share of pairs admitted against their order of
// arrival.
func invertedShare(order []int) float64 {
	var sorted []int
	inverted := 0
	for _, id := range order {
		k, _ := slices.BinarySearch(sorted, id)
		inverted += len(sorted) - k
		sorted = slices.Insert(sorted, k, id)
	}
	n := len(order)
	return float64(inverted) / (float64(n) * float64(n-1) / 2)
}

func (w *world) utilisation() float64 {
	return float64(w.busy) / float64(w.crowd.slots) / float64(w.lastEnd.Sub(start))
}
