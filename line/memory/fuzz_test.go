package memory

import (
	"slices"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/line"
)

// FuzzOperations plays a sequence of operations against the line and a model
// of it that keeps everything in plain slices. The model does not judge: it
// takes verdicts as they come, checks that they were allowed, and knows what
// must follow from them.
func FuzzOperations(f *testing.F) {
	f.Add([]byte{1, 1, 1, 2, 1, 3, 4, 0, 0, 90, 4, 1, 6, 0, 3, 0, 0, 10, 4, 2})
	f.Add([]byte{9, 0, 1, 1, 1, 2, 1, 3, 7, 2, 0, 20, 5, 0, 8, 1, 6, 0, 6, 0, 11, 0})
	f.Add([]byte{2, 1, 2, 2, 2, 3, 2, 4, 2, 5, 7, 3, 4, 1, 0, 200, 0, 200, 11, 1, 4, 2, 12, 0, 4, 0})
	f.Add([]byte{9, 9, 1, 1, 1, 1, 10, 2, 10, 3, 6, 0, 0, 1, 3, 0, 3, 0, 3, 0, 6, 0, 5, 1})
	f.Fuzz(func(t *testing.T, ops []byte) {
		m := newModel(t)
		for len(ops) >= 2 && len(ops) < 4000 {
			m.play(ops[0]%14, int(ops[1]))
			ops = ops[2:]
			m.check()
			m.checkReplay()
		}
	})
}

func (m *model) play(op byte, arg int) {
	ctx := m.t.Context()
	switch op {
	case 0:
		m.pass(time.Duration(arg) * 40 * time.Millisecond)
	case 1, 2:
		m.who = (m.who + arg) % 7
		m.enter(line.Entry{Client: somebody(m.who), MayHold: op == 1}, nil)
	case 3:
		if k := m.pick(arg); k != nil {
			m.enter(line.Entry{Ticket: k.ticket, Client: somebody(9), MayHold: arg%3 != 0, NoPlace: arg%7 == 0}, k)
		}
	case 4:
		m.poll(arg)
	case 5:
		if n := len(m.stands); n > 0 {
			m.leave(m.stands[arg%n], arg%2 == 0)
		}
	case 6:
		if n := len(m.slots); n > 0 {
			m.l.Release(m.now, m.slots[arg%n])
			m.slots = slices.Delete(m.slots, arg%n, arg%n+1)
		}
	case 7:
		m.promote(arg)
	case 8:
		if k := m.pick(arg); k != nil {
			if err := m.l.Remove(ctx, m.now, k.ticket); err != nil {
				m.t.Fatal(err)
			}
			m.forget(k)
		}
	case 9:
		m.set.Policy.Cap = arg % 6
		m.set.DoorMax = arg % 9
		m.set.Mode = line.Mode(arg / 64 % 3)
		_ = m.l.Configure(ctx, m.now, m.set) // never fails
	case 10:
		m.enter(line.Entry{Client: somebody(8), NoPlace: true, MayHold: arg%2 == 0}, nil)
	case 11:
		m.advance()
	case 12:
		m.restart()
	case 13:
		if n := len(m.used); n > 0 {
			if st, _ := m.l.Poll(ctx, m.now, m.used[arg%n]); st.Known {
				m.t.Fatalf("ticket %d is known after its end", m.used[arg%n].Number)
			}
		}
	}
}

func (m *model) pick(arg int) *modelTicket {
	if len(m.tickets) == 0 {
		return nil
	}
	return m.tickets[arg%len(m.tickets)]
}

func (m *model) forget(k *modelTicket) {
	m.used = append(m.used, k.ticket)
	m.tickets = slices.DeleteFunc(m.tickets, func(o *modelTicket) bool { return o == k })
}

func (m *model) dead(k *modelTicket) bool {
	life := m.set.TTL
	if !k.polled {
		life = min(life, m.set.FirstPollGrace)
	}
	return k.atDoor == 0 && m.now.Sub(k.seen) >= life
}

// enter plays an entry, of ticket k if there is one.
func (m *model) enter(e line.Entry, k *modelTicket) {
	m.catchUp()
	if k != nil && !slices.Contains(m.tickets, k) {
		return // it was let in meanwhile
	}
	glance := e.NoPlace && !e.MayHold
	if k != nil && !glance && m.dead(k) {
		m.forget(k)
		k = nil
	}
	d, _ := m.l.Enter(m.t.Context(), m.now, e)
	if k != nil && !glance {
		k.seen, k.polled, k.private = m.now, true, false
	}
	switch d.Verdict {
	case line.Admitted:
		m.admitted(d.Slot)
		order := slices.Clone(m.tickets)
		if k != nil && !glance {
			order = order[:slices.Index(order, k)]
			m.forget(k)
		}
		m.checkAhead(order)
	case line.AtDoor:
		m.stand(e, d, k)
	case line.Waiting:
		if e.NoPlace || m.set.Mode == line.Closed && k == nil {
			m.t.Fatalf("%+v was given a place", e)
		}
		if k == nil {
			m.tickets = append(m.tickets, &modelTicket{ticket: d.Place.Ticket, seen: m.now})
		} else if d.Place.Ticket.Number != k.ticket.Number {
			m.t.Fatalf("ticket %d was answered with %d", k.ticket.Number, d.Place.Ticket.Number)
		}
	case line.Busy:
		if !e.NoPlace {
			m.t.Fatalf("%+v is told Busy", e)
		}
	case line.Shut:
		if m.set.Mode != line.Closed {
			m.t.Fatal("told Shut though the line is not closed")
		}
	case line.TooMany:
	default:
		m.t.Fatalf("verdict %v", d.Verdict)
	}
}

func (m *model) stand(e line.Entry, d line.Decision, k *modelTicket) {
	if !e.MayHold || m.set.Mode != line.Open && (k == nil || k.atDoor == 0) {
		m.t.Fatalf("%+v is held at the door", e)
	}
	if k == nil && !e.NoPlace {
		k = &modelTicket{ticket: d.Place.Ticket, seen: m.now, private: true}
		m.tickets = append(m.tickets, k)
	}
	if k != nil {
		k.atDoor++
	}
	m.stands = append(m.stands, &modelStand{door: d.Door, ticket: k})
}

func (m *model) admitted(s line.Slot) {
	if m.set.Mode != line.Open {
		m.t.Fatal("let in while not open")
	}
	if c := m.set.Policy.Cap; c > 0 && len(m.slots) >= c {
		m.t.Fatalf("let in with %d of %d slots out", len(m.slots), c)
	}
	m.slots = append(m.slots, s)
}

func (m *model) poll(arg int) {
	m.catchUp()
	k := m.pick(arg)
	if k == nil || k.private {
		return
	}
	st, _ := m.l.Poll(m.t.Context(), m.now, k.ticket)
	if m.dead(k) {
		if st.Known {
			m.t.Fatal("a dead ticket is known")
		}
		m.forget(k)
		return
	}
	if want := slices.Index(m.tickets, k) + 1; !st.Known || st.Place.Position != want {
		m.t.Fatalf("a poll says %+v, want position %d", st, want)
	}
	if st.Ready && m.set.Mode != line.Open {
		m.t.Fatal("told to come while not open")
	}
	k.seen, k.polled = m.now, true
}

func (m *model) leave(s *modelStand, gone bool) {
	m.catchUp()
	if !slices.Contains(m.stands, s) {
		return
	}
	d := s.door.Leave(m.now, gone)
	m.stands = slices.DeleteFunc(m.stands, func(o *modelStand) bool { return o == s })
	k := s.ticket
	if d.Verdict != line.Waiting && d.Verdict != line.Busy {
		m.t.Fatalf("Leave says %v", d.Verdict)
	}
	if k == nil {
		return
	}
	if k.atDoor--; k.atDoor > 0 {
		return
	}
	if k.seen = m.now; k.private && gone {
		m.forget(k)
	}
	k.private = false
}

func (m *model) promote(arg int) {
	m.catchUp()
	k := m.pick(arg / 8)
	if k == nil {
		return
	}
	to := arg%8%len(m.tickets) + 1
	if err := m.l.Promote(m.t.Context(), m.now, k.ticket, to); err != nil {
		m.t.Fatal(err)
	}
	m.tickets = slices.DeleteFunc(m.tickets, func(o *modelTicket) bool { return o == k })
	m.tickets = slices.Insert(m.tickets, to-1, k)
}

// pass lets time go by, and the line do what is due at least every second, as is
// to be done with one.
func (m *model) pass(d time.Duration) {
	for end := m.now.Add(d); m.now.Before(end); m.catchUp() {
		m.now = m.now.Add(min(end.Sub(m.now), beat))
	}
}
