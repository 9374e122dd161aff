package memory

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/line"
)

type model struct {
	t       *testing.T
	l       *Line
	now     time.Time
	set     line.Settings
	tickets []*modelTicket // in line order
	stands  []*modelStand
	slots   []line.Slot
	used    []line.Ticket // no longer in line
	sweepAt time.Time
	who     int
	replay  *line.Replay // of the line since its start
}

type modelTicket struct {
	ticket  line.Ticket
	seen    time.Time
	polled  bool
	atDoor  int
	private bool // issued to a request at the door that has not been answered
}

type modelStand struct {
	door   line.Door
	ticket *modelTicket // nil: an entry without a place
}

func newModel(t *testing.T) *model {
	s := settings(2)
	s.DoorMax, s.TTL, s.PerClient = 5, time.Minute, 4
	m := &model{t: t, now: start, set: s, sweepAt: start.Add(s.Sweep)}
	m.begin()
	return m
}

// begin starts a new line.
func (m *model) begin() {
	m.l = New(Options{Settings: m.set, Start: m.now, Jitter: rand.NewPCG(1, 2), Record: true})
	s, _ := m.l.Snapshot(m.t.Context(), m.now)
	m.replay = line.NewReplay(s)
}

// checkReplay compares the line with its first snapshot and all changes since.
func (m *model) checkReplay() {
	want, _ := m.l.Snapshot(m.t.Context(), m.now)
	for _, c := range m.l.Changes(nil) {
		m.replay.Apply(c)
	}
	got := m.replay.Snapshot()
	if got.Sequence != want.Sequence || len(got.Tickets) != len(want.Tickets) {
		m.t.Fatalf("replayed to change %d with %d tickets, want %d with %d", got.Sequence, len(got.Tickets), want.Sequence, len(want.Tickets))
	}
	for i, g := range got.Tickets {
		w := want.Tickets[i]
		if g.Ticket != w.Ticket || g.Promoted != w.Promoted || g.Rank != w.Rank || g.Polled && !w.Polled || w.Polled && !w.Absent && (!g.Polled || g.Absent) {
			m.t.Fatalf("replayed ticket %d is %+v, want %+v", i+1, g, w)
		}
	}
}

func (m *model) advance() {
	m.catchUp()
	if _, err := m.l.Advance(m.t.Context(), m.now); err != nil {
		m.t.Fatal(err)
	}
	if m.now.Before(m.sweepAt) {
		return
	}
	m.sweepAt = m.now.Add(m.set.Sweep)
	for _, k := range slices.Clone(m.tickets) {
		if m.dead(k) {
			m.forget(k)
		}
	}
}

// restart saves the line and goes on with a restored one.
func (m *model) restart() {
	m.catchUp()
	s, _ := m.l.Snapshot(m.t.Context(), m.now)
	m.begin()
	if err := m.l.Restore(m.t.Context(), m.now, s, false); err != nil {
		m.t.Fatal(err)
	}
	s, _ = m.l.Snapshot(m.t.Context(), m.now)
	m.replay = line.NewReplay(s)
	m.sweepAt = m.now.Add(m.set.Sweep)
	m.stands, m.slots = nil, nil
	for _, k := range slices.Clone(m.tickets) {
		k.atDoor, k.private = 0, false
		switch {
		case m.now.Sub(k.seen) >= m.set.TTL:
			m.forget(k)
		case !k.polled:
			k.seen = m.now
		}
	}
}

// catchUp has the line do what is due, and follows up what became of those at
// the door.
func (m *model) catchUp() {
	m.l.Stats(m.now)
	ahead := 0 // places ahead of the last that was let in
	order := slices.Clone(m.tickets)
	for _, s := range slices.Clone(m.stands) {
		select {
		case <-s.door.Done():
		default:
			continue
		}
		m.stands = slices.DeleteFunc(m.stands, func(o *modelStand) bool { return o == s })
		switch d := s.door.Outcome(); d.Verdict {
		case line.Admitted:
			m.admitted(d.Slot)
			if s.ticket != nil {
				ahead = max(ahead, slices.Index(order, s.ticket))
				m.forget(s.ticket)
			}
		case line.Spent:
			if slices.Contains(m.tickets, s.ticket) && s.ticket.atDoor == 1 {
				m.t.Fatal("told that the ticket is spent, and it is not")
			}
			s.ticket.atDoor--
		default:
			m.t.Fatalf("outcome %v at the door", d.Verdict)
		}
	}
	m.checkAhead(order[:ahead])
}

// checkAhead has none of those at the door who were ahead of somebody let in,
// and no more with a claim than there are free slots.
func (m *model) checkAhead(ahead []*modelTicket) {
	claims := 0
	for _, k := range ahead {
		if !slices.Contains(m.tickets, k) {
			continue
		}
		switch m.l.order.find(m.l.numbers[k.ticket.Number]).class() {
		case door:
			m.t.Fatalf("ticket %d stands at the door and was overtaken there", k.ticket.Number)
		case polled, called:
			claims++
		}
	}
	if free := m.l.free(m.l.now); claims > max(free, 0) {
		m.t.Fatalf("somebody was let in with %d claims ahead and %d slots free", claims, free)
	}
}

// check compares the line with the model.
func (m *model) check() {
	m.catchUp()
	checkSums(m.t, m.l)
	st := m.l.Stats(m.now)
	if st.InFlight != len(m.slots) || st.Live != len(m.tickets) || st.AtDoor != len(m.stands) {
		m.t.Fatalf("line has %d out, %d live, %d at the door; model %d, %d, %d",
			st.InFlight, st.Live, st.AtDoor, len(m.slots), len(m.tickets), len(m.stands))
	}
	all, _ := m.l.List(m.t.Context(), m.now, 0, len(m.tickets)+1)
	for k, o := range all {
		if want := m.tickets[k]; o.Place.Position != k+1 || o.Place.Ticket.Number != want.ticket.Number {
			m.t.Fatalf("position %d: ticket %d at %d, want %d", k+1, o.Place.Ticket.Number, o.Place.Position, want.ticket.Number)
		}
	}
	if len(all) != len(m.tickets) {
		m.t.Fatalf("%d listed, want %d", len(all), len(m.tickets))
	}
}
