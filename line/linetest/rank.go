package linetest

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/line"
)

// ranked is a request of a rank that cannot be held at the door.
func ranked(who int, rank uint8) line.Entry {
	e := unheld(who)
	e.Rank = rank
	return e
}

func (r *room) join(e line.Entry) line.Ticket {
	r.t.Helper()
	return r.wantEnter(e, line.Waiting).Place.Ticket
}

func testRankLead(t *testing.T, newLine New) {
	s := settings(1)
	s.RankLead = 3
	r := open(t, newLine, s)
	r.fill(1)
	g := r.queue(6)
	d := r.wantEnter(ranked(10, 1), line.Waiting)
	if d.Place.Position != 4 || d.Place.Ahead != 3 {
		t.Fatalf("a head start of 3 leads to position %d of 7", d.Place.Position)
	}
	m := d.Place.Ticket
	r.wantOrder(g[0], g[1], g[2], m, g[3], g[4], g[5])
	p := r.join(ranked(11, 2)) // ahead of the last six arrivals, one of them m
	r.wantOrder(g[0], p, g[1], g[2], m, g[3], g[4], g[5])
	late := r.join(ranked(12, 0))
	m2 := r.join(ranked(13, 1)) // of the last three, p and m stand further ahead
	r.wantOrder(g[0], p, g[1], g[2], m, g[3], g[4], g[5], m2, late)
	all, err := r.l.List(t.Context(), r.now, 0, 3)
	r.must(err)
	if all[0].Rank != 0 || all[1].Rank != 2 {
		t.Errorf("listed with ranks %d and %d, want 0 and 2", all[0].Rank, all[1].Rank)
	}
	r.configure(func(s *line.Settings) { s.RankLead = 0 })
	last := r.join(ranked(14, 2))
	r.wantOrder(g[0], p, g[1], g[2], m, g[3], g[4], g[5], m2, late, last)
}

// Whoever overtakes without waiting uses up the head start as well.
func testRankOvertakesAtTheDoor(t *testing.T, newLine New) {
	s := settings(1)
	s.RankLead = 2
	r := open(t, newLine, s)
	slot := r.fill(1)[0]
	g := r.queue(1)
	for k := range 2 {
		r.l.Release(r.now, slot)
		slot = r.wantEnter(ranked(10+k, 1), line.Admitted).Slot
	}
	r.l.Release(r.now, slot)
	r.wantEnter(ranked(20, 1), line.Waiting)
	r.wantEnter(back(g[0], 0), line.Admitted)
}

// The bounds that Settings.RankLead promises, over a long run of mixed ranks:
// everybody stands where their arrival, less the head start, belongs; first
// come, first served within a rank; nobody is overtaken more often than
// that; positions rise for nobody once the head starts of others are over; and
// guests move.
func testRankBounds(t *testing.T, newLine New) {
	const lead, ranks, arrivals = 5, 3, 400
	s := settings(1)
	s.RankLead = lead
	r := open(t, newLine, s)
	slot := r.fill(1)[0]
	rnd := rand.New(rand.NewPCG(7, 8))
	type visitor struct {
		ticket    line.Ticket
		rank      uint8
		arrived   int
		overtaken [ranks]int
		position  int
	}
	behind := func(a, b *visitor) bool { // is b's place behind a's?
		x, y := a.arrived-lead*int(a.rank), b.arrived-lead*int(b.rank)
		return x < y || x == y && a.arrived > b.arrived
	}
	var waiting []*visitor // in line order, as the line lists them
	known := map[uint64]*visitor{}
	var served [ranks]int
	var lastOf [ranks]int
	for n := range arrivals {
		v := &visitor{rank: uint8(rnd.IntN(ranks)), arrived: n}
		v.ticket = r.join(ranked(n, v.rank))
		known[v.ticket.Number] = v
		all, err := r.l.List(t.Context(), r.now, 0, len(waiting)+1)
		r.must(err)
		waiting = waiting[:0]
		passed := false
		for k, o := range all {
			w := known[o.Place.Ticket.Number]
			if passed {
				w.overtaken[v.rank]++
			}
			passed = passed || w == v
			if w.position > 0 && k+1 > w.position && n-w.arrived > lead*(ranks-1-int(w.rank)) {
				t.Fatalf("arrival %d of rank %d went from position %d to %d at arrival %d", w.arrived, w.rank, w.position, k+1, n)
			}
			w.position = k + 1
			if k > 0 && !behind(waiting[k-1], w) {
				t.Fatalf("arrival %d of rank %d stands ahead of arrival %d of rank %d", waiting[k-1].arrived, waiting[k-1].rank, w.arrived, w.rank)
			}
			waiting = append(waiting, w)
		}
		if n%2 == 1 && len(waiting) < 60 {
			continue // fewer are served than come, until there are many
		}
		r.l.Release(r.now, slot)
		slot = r.wantEnter(back(waiting[0].ticket, waiting[0].arrived), line.Admitted).Slot
		first := waiting[0]
		if first.arrived < lastOf[first.rank] {
			t.Fatalf("of rank %d, arrival %d was served after %d", first.rank, first.arrived, lastOf[first.rank])
		}
		lastOf[first.rank] = first.arrived
		served[first.rank]++
		r.pass(time.Second)
		for _, w := range waiting[1:] {
			r.poll(w.ticket)
		}
	}
	for _, v := range known {
		for rank, n := range v.overtaken {
			if most := lead * max(0, rank-int(v.rank)); n > most {
				t.Errorf("arrival %d of rank %d was overtaken %d times by rank %d, at most %d are allowed", v.arrived, v.rank, n, rank, most)
			}
		}
	}
	for rank, n := range served {
		if n < arrivals/20 {
			t.Errorf("%d of rank %d were served", n, rank)
		}
	}
}

func testFront(t *testing.T, newLine New) {
	r := open(t, newLine, settings(1))
	r.fill(1)
	q := r.queue(4)
	front := func(k line.Ticket) {
		t.Helper()
		r.must(r.l.Promote(t.Context(), r.now, k, line.Front))
	}
	front(q[2])
	front(q[3])
	r.wantOrder(q[2], q[3], q[0], q[1])
	front(q[2]) // is there already
	front(q[3])
	r.wantOrder(q[2], q[3], q[0], q[1])
	e := unheld(10)
	e.Front = true
	d := r.wantEnter(e, line.Waiting)
	if d.Place.Position != 3 || !d.Place.Promoted || !d.Place.Fresh {
		t.Fatalf("whoever may go to the front is told %+v", d.Place)
	}
	r.wantOrder(q[2], q[3], d.Place.Ticket, q[0], q[1])
	r.must(r.l.Promote(t.Context(), r.now, q[1], 1)) // an operator's word
	r.wantOrder(q[1], q[2], q[3], d.Place.Ticket, q[0])
	r.configure(func(s *line.Settings) { s.MaxWaiting = 5 })
	r.wantEnter(unheld(11), line.Full)
	e.Client = client(12)
	r.wantEnter(e, line.Waiting)
}

func testEnded(t *testing.T, newLine New) {
	r := open(t, newLine, settings(1))
	slot := r.fill(1)[0]
	q := r.queue(4)
	want := func(k line.Ticket, ended line.Ended) {
		t.Helper()
		if st := r.look(k); st.Known || st.Ended != ended {
			t.Errorf("ticket %d: %+v, want it to have ended as %d", k.Number, st, ended)
		}
	}
	r.l.Release(r.now, slot)
	r.wantEnter(back(q[0], 0), line.Admitted)
	want(q[0], line.EndedAdmitted)
	r.must(r.l.Quit(t.Context(), r.now, q[1]))
	want(q[1], line.EndedExpired)
	r.must(r.l.Remove(t.Context(), r.now, q[2]))
	want(q[2], line.EndedRemoved)
	if st := r.look(q[3]); !st.Known || st.Ended != line.EndedUnknown {
		t.Errorf("a ticket in line has ended: %+v", st)
	}
	r.pass(r.set.TTL + time.Second)
	want(q[3], line.EndedExpired)
	want(line.Ticket{Number: 12345}, line.EndedUnknown)
	want(line.Ticket{Number: q[3].Number + 1000}, line.EndedUnknown)
}

// A line of several ranks comes back in its order, ranks and all, and those who
// join it later are placed as if it had never stopped.
func testRestoreRanks(t *testing.T, newLine New) {
	s := settings(1)
	s.RankLead = 2
	r := open(t, newLine, s)
	r.fill(1)
	g := r.queue(3)
	m := r.join(ranked(10, 1))
	p := r.join(ranked(11, 2))
	r.must(r.l.Promote(t.Context(), r.now, g[2], 1))
	before, err := r.l.List(t.Context(), r.now, 0, 10)
	r.must(err)
	saved, err := r.l.Snapshot(t.Context(), r.now)
	r.must(err)

	again := &room{t: t, l: newLine(t, s, r.now), now: r.now, set: s}
	again.fill(1)
	again.must(again.l.Restore(t.Context(), again.now, saved, false))
	after, err := again.l.List(t.Context(), again.now, 0, 10)
	again.must(err)
	for k := range before {
		if after[k].Place.Ticket.Number != before[k].Place.Ticket.Number || after[k].Rank != before[k].Rank {
			t.Fatalf("position %d: ticket %d of rank %d, was %d of rank %d", k+1,
				after[k].Place.Ticket.Number, after[k].Rank, before[k].Place.Ticket.Number, before[k].Rank)
		}
	}
	again.wantOrder(g[2], p, g[0], m, g[1])
	last := again.join(ranked(12, 0))
	m2 := again.join(ranked(13, 1))
	if at := again.look(m2).Place.Position; at > again.look(last).Place.Position {
		t.Errorf("a member stands at %d, behind the guest who came just before", at)
	}
}
