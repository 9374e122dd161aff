package gatetest

import (
	"slices"
	"time"

	"github.com/andreimerlescu/concert/gate"
)

func admitsAtInflow(r *rig) { // 3 in 10 s, 2 at once
	r.joinMany(10)
	r.wantAdmitted(2)
	r.pass(3333 * time.Millisecond)
	r.wantAdmitted(2)
	r.pass(time.Millisecond)
	r.wantAdmitted(3)
	r.pass(10*time.Second - 3334*time.Millisecond)
	r.wantAdmitted(5)
	r.pass(10 * time.Second)
	r.wantAdmitted(8)
}

func banksABurst(r *rig) { // 10 in 10 s, 5 at once
	r.pass(time.Hour)
	r.joinMany(20)
	r.wantAdmitted(5)
	r.pass(time.Hour) // they waited, so all of them are let in
	r.wantAdmitted(20)
	r.joinMany(20)
	r.wantAdmitted(25)
	r.pass(2 * time.Second)
	r.wantAdmitted(27)
}

func exactHoweverAsked(r *rig) { // 7 in 60 s, 1 at once
	r.joinMany(100)
	for range 6 * 997 { // a prime, so that no step is even
		r.pass(time.Minute / 997)
		r.live()
	}
	r.now = r.live().CreatedAt.Add(6 * time.Minute)
	r.wantAdmitted(1 + 7*6)
}

func pauses(r *rig) { // 1 a second
	r.joinMany(100)
	r.pass(4500 * time.Millisecond)
	r.wantAdmitted(5)
	r.act(gate.Pause)
	r.pass(time.Hour)
	r.wantAdmitted(5)
	st := r.join()
	if st.State != gate.Paused || st.ETA >= 0 || st.Position != 96 {
		r.Errorf("join while paused: %+v", st)
	}
	r.act(gate.Resume)
	r.wantAdmitted(5)
	r.pass(499 * time.Millisecond)
	r.wantAdmitted(5)
	r.pass(time.Millisecond)
	r.wantAdmitted(6)
}

func changesRate(r *rig) { // 1 a second
	r.joinMany(100)
	r.pass(10500 * time.Millisecond)
	r.wantAdmitted(11)
	r.update(gate.Patch{Inflow: new(100)}) // 10 a second; half a permit was earned
	r.pass(49 * time.Millisecond)
	r.wantAdmitted(11)
	r.pass(time.Millisecond)
	r.wantAdmitted(12)
	r.pass(time.Second)
	r.wantAdmitted(22)
	r.update(gate.Patch{Inflow: new(1), IntervalSec: new(100)})
	r.pass(100 * time.Second)
	r.wantAdmitted(23)
}

func opensGates(r *rig) {
	r.joinMany(50)
	r.act(gate.Pause)
	r.act(gate.OpenGates)
	r.wantAdmitted(50)
	if l := r.live(); l.State != gate.Open {
		r.Errorf("state %s", l.State)
	}
	r.joinMany(2) // who come later wait for their turn
	r.wantAdmitted(50)
	r.pass(10 * time.Second)
	r.wantAdmitted(51)
}

// takesACrowd simulates a crowd, of 20,000 say, that joins within five minutes,
// at 500 per 10 s, with a pause and changes of the rate. Each polls when told to
// and exchanges when it is let in; some leave.
func takesACrowd(r *rig, crowd int) {
	const tick = 100 * time.Millisecond
	start, burst := r.now, crowd/40
	allowed, rate, paused := float64(burst), float64(burst)/10, false // a burst at the beginning
	visitors := make([]gate.Status, 0, crowd)
	due := map[int64][]int{} // ticks from the start to who polls then
	var order []uint64
	for n := int64(0); len(order) < crowd*9/10 && n < 24*3600*10; n++ {
		switch n {
		case 600:
			r.act(gate.Pause)
			paused = true
		case 1200:
			r.act(gate.Resume)
			paused = false
		case 2000:
			r.update(gate.Patch{Inflow: new(4 * burst)})
			rate *= 4
		case 2600:
			r.update(gate.Patch{Inflow: new(burst / 2)})
			rate = float64(burst/2) / 10
		}
		for len(visitors) < min(crowd, int(n)*crowd/3000) {
			visitors = append(visitors, r.join())
			due[n+1] = append(due[n+1], len(visitors)-1)
		}
		var let []uint64
		l := r.live()
		for _, i := range due[n] {
			v := &visitors[i]
			if i%10 == 9 {
				continue // gone
			}
			r.poll(v)
			if v.Admitted != (v.Ticket.Number <= l.Admitted) {
				r.Fatalf("ticket %d admitted: %v, while %d are", v.Ticket.Number, v.Admitted, l.Admitted)
			}
			if v.Admitted {
				r.exchange(v.Ticket)
				let = append(let, v.Ticket.Number)
				continue
			}
			due[n+int64(v.PollAfter/tick)+1] = append(due[n+int64(v.PollAfter/tick)+1], i)
		}
		delete(due, n)
		order = append(order, let...)
		switch {
		case float64(l.Admitted) > allowed+1e-6:
			r.Fatalf("after %v: %d admitted, %f allowed", r.now.Sub(start), l.Admitted, allowed)
		case !paused && l.QueueLength > 0 && float64(l.Admitted) < allowed-1-1e-6:
			r.Fatalf("after %v: %d wait, yet only %d of %f were let in", r.now.Sub(start), l.QueueLength, l.Admitted, allowed)
		}
		r.pass(tick)
		if !paused {
			allowed += rate * tick.Seconds()
		}
		if l.QueueLength == 0 { // nothing more than a burst is saved
			allowed = min(allowed, float64(l.Admitted+uint64(burst)))
		}
	}
	if len(order) != crowd*9/10 {
		r.Fatalf("%d of %d were let in", len(order), crowd*9/10)
	}
	slices.Sort(order)
	if len(slices.Compact(order)) != crowd*9/10 {
		r.Error("a ticket let in twice")
	}
	if st, err := r.store.Stats(r.Context(), r.now, r.id); err != nil || st.Passed != uint64(crowd*9/10) {
		r.Errorf("stats: %+v, %v", st, err)
	}
}
