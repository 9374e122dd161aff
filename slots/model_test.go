package slots

import (
	"slices"
	"testing"
)

// model is the gate as one would explain it: who holds a slot, who waits.
type model struct {
	cap     int
	inside  int
	waiting []int
	granted []bool // by waiter number
}

func (m *model) admit() {
	for len(m.waiting) > 0 && m.inside < m.cap {
		m.granted[m.waiting[0]] = true
		m.waiting = m.waiting[1:]
		m.inside++
	}
}

func (m *model) enter() (waits bool) {
	if len(m.waiting) == 0 && m.inside < m.cap {
		m.inside++
		return false
	}
	m.waiting = append(m.waiting, len(m.granted))
	m.granted = append(m.granted, false)
	return true
}

func (m *model) try() bool {
	if len(m.waiting) > 0 || m.inside >= m.cap {
		return false
	}
	m.inside++
	return true
}

// pair steps a gate and its model together.
type pair struct {
	t       *testing.T
	gate    *Gate
	model   model
	waiters []*waiter // by number, as in model.granted
}

// step plays one operation, chosen by op, with arg as its argument.
func (p *pair) step(op, arg byte) {
	switch op % 5 {
	case 0:
		if got, want := p.gate.TryAcquire(), p.model.try(); got != want {
			p.t.Fatalf("try: %v, want %v", got, want)
		}
	case 1:
		p.enter()
	case 2:
		if p.model.inside > 0 {
			p.gate.Release()
			p.model.inside--
		}
	case 3:
		p.gate.SetCap(int(arg % 16))
		p.model.cap = int(arg % 16)
	case 4:
		p.leave(int(arg))
	}
	p.model.admit()
	p.compare()
}

func (p *pair) enter() {
	w := p.gate.enter()
	waits := p.model.enter()
	if (w != nil) != waits {
		p.t.Fatalf("enter: waits %v, want %v", w != nil, waits)
	}
	if waits {
		p.waiters = append(p.waiters, w)
	}
}

// leave has one waiter give up; when it was granted already, it keeps its slot.
func (p *pair) leave(arg int) {
	if len(p.model.waiting) == 0 {
		return
	}
	i := arg % len(p.model.waiting)
	if p.gate.leave(p.waiters[p.model.waiting[i]]) {
		p.t.Fatalf("waiter %d says it holds a slot", p.model.waiting[i])
	}
	p.model.waiting = slices.Delete(p.model.waiting, i, i+1)
}

func (p *pair) compare() {
	wantState(p.t, p.gate, p.model.inside, p.model.cap, len(p.model.waiting))
	for i, w := range p.waiters {
		granted := false
		select {
		case <-w.granted:
			granted = true
		default:
		}
		if granted != p.model.granted[i] {
			p.t.Fatalf("waiter %d granted %v, want %v", i, granted, p.model.granted[i])
		}
	}
}

// FuzzGate plays a sequence of operations, two bytes each, on a gate and on a
// naive model of it, and compares all that can be seen after each one.
func FuzzGate(f *testing.F) {
	const try, enter, release, setCap, leave = 0, 1, 2, 3, 4
	f.Add([]byte{try, 0, try, 0, try, 0, release, 0})
	f.Add([]byte{try, 0, try, 0, enter, 0, enter, 0, leave, 0, release, 0, release, 0})
	f.Add([]byte{setCap, 8, try, 0, try, 0, try, 0, try, 0, setCap, 1, enter, 0, release, 0, release, 0, release, 0, release, 0})
	f.Add([]byte{setCap, 0, enter, 0, enter, 0, enter, 0, leave, 1, setCap, 15, setCap, 0, release, 0, setCap, 1})
	f.Add([]byte{setCap, 4, try, 0, try, 0, try, 0, setCap, 1, release, 0, setCap, 3, try, 0, enter, 0, setCap, 4})
	f.Fuzz(func(t *testing.T, ops []byte) {
		p := &pair{t: t, gate: New(2), model: model{cap: 2}}
		for i := 0; i+1 < len(ops) && i < 512; i += 2 {
			p.step(ops[i], ops[i+1])
		}
	})
}
