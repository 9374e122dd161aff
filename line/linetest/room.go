package linetest

import (
	"net/netip"

	"github.com/andreimerlescu/concert/line"
)

// client is a client key of its own for each k.
func client(k int) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(k >> 16), byte(k >> 8), byte(k)}), 32)
}

func page(k int) line.Entry { return line.Entry{Client: client(k), MayHold: true} }

// unheld is an entry that cannot be held at the door.
func unheld(k int) line.Entry { return line.Entry{Client: client(k)} }

// back is the page request of somebody who has a ticket.
func back(k line.Ticket, who int) line.Entry {
	e := page(who)
	e.Ticket = k
	return e
}

func (r *room) enter(e line.Entry) line.Decision {
	r.t.Helper()
	d, err := r.l.Enter(r.t.Context(), r.now, e)
	r.must(err)
	return d
}

func (r *room) wantEnter(e line.Entry, want line.Verdict) line.Decision {
	r.t.Helper()
	d := r.enter(e)
	if d.Verdict != want {
		r.t.Fatalf("entry %+v: verdict %v, want %v", e, d.Verdict, want)
	}
	if want == line.AtDoor && (d.Door == nil || !d.Until.After(r.now)) {
		r.t.Fatalf("at the door: %+v", d)
	}
	return d
}

// letIn enters somebody who is let in at once, by way of the door or not.
func (r *room) letIn(e line.Entry) line.Slot {
	r.t.Helper()
	d := r.enter(e)
	if d.Verdict == line.AtDoor {
		select {
		case <-d.Door.Done():
			d = d.Door.Outcome()
		default:
			r.t.Fatalf("entry %+v: kept waiting at the door", e)
		}
	}
	if d.Verdict != line.Admitted {
		r.t.Fatalf("entry %+v: verdict %v, want to be let in", e, d.Verdict)
	}
	return d.Slot
}

// fill takes n slots.
func (r *room) fill(n int) []line.Slot {
	r.t.Helper()
	var all []line.Slot
	for k := range n {
		all = append(all, r.wantEnter(page(1_000_000+k), line.Admitted).Slot)
	}
	return all
}

// queue has n visitors wait who could not be held, and have polled once.
func (r *room) queue(n int) []line.Ticket {
	r.t.Helper()
	var all []line.Ticket
	for k := range n {
		d := r.wantEnter(unheld(k), line.Waiting)
		if !d.Place.Fresh || d.Place.Ticket.IsZero() {
			r.t.Fatalf("a newcomer's place is %+v", d.Place)
		}
		all = append(all, d.Place.Ticket)
	}
	for _, k := range all {
		r.poll(k)
	}
	return all
}

func (r *room) poll(k line.Ticket) line.Status {
	r.t.Helper()
	st, err := r.l.Poll(r.t.Context(), r.now, k)
	r.must(err)
	return st
}

func (r *room) look(k line.Ticket) line.Status {
	r.t.Helper()
	st, err := r.l.Look(r.t.Context(), r.now, k)
	r.must(err)
	return st
}

// wantOrder has exactly these tickets in line, in this order, at positions
// from 1 on, as seen by Look and by List.
func (r *room) wantOrder(want ...line.Ticket) {
	r.t.Helper()
	all, err := r.l.List(r.t.Context(), r.now, 0, len(want)+10)
	r.must(err)
	if len(all) != len(want) {
		r.t.Fatalf("%d in line, want %d", len(all), len(want))
	}
	for k, o := range all {
		p := o.Place
		if p.Ticket.Number != want[k].Number || p.Position != k+1 || p.Ahead != k {
			r.t.Fatalf("position %d: ticket %d at %d, want ticket %d", k+1, p.Ticket.Number, p.Position, want[k].Number)
		}
		if got := r.look(want[k]).Place.Position; got != k+1 {
			r.t.Fatalf("ticket %d is told position %d, want %d", want[k].Number, got, k+1)
		}
	}
}

func (r *room) configure(change func(*line.Settings)) {
	r.t.Helper()
	change(&r.set)
	r.must(r.l.Configure(r.t.Context(), r.now, r.set))
}

func (r *room) wantInFlight(want int) {
	r.t.Helper()
	if got := r.l.Stats(r.now).InFlight; got != want {
		r.t.Fatalf("%d slots out, want %d", got, want)
	}
}

// granted reports the outcome at the door, if it stands.
func granted(d line.Decision) (line.Decision, bool) {
	select {
	case <-d.Door.Done():
		return d.Door.Outcome(), true
	default:
		return line.Decision{}, false
	}
}

func (r *room) wantGrant(d line.Decision, want line.Verdict) line.Decision {
	r.t.Helper()
	got, ok := granted(d)
	if !ok || got.Verdict != want {
		r.t.Fatalf("at the door: outcome %v (%v), want %v", got.Verdict, ok, want)
	}
	return got
}

func (r *room) wantNoGrant(d line.Decision) {
	r.t.Helper()
	if got, ok := granted(d); ok {
		r.t.Fatalf("at the door: outcome %v, want none yet", got.Verdict)
	}
}
