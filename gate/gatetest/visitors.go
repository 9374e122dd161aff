package gatetest

import (
	"errors"
	"time"

	"github.com/andreimerlescu/concert/gate"
)

func givesPositions(r *rig) {
	first := r.join()
	if !first.Admitted || first.Position != 0 || first.Ticket.Number != 1 {
		r.Errorf("the first: %+v", first)
	}
	waiting := r.joinMany(4)
	for i, st := range waiting {
		n := uint64(i + 1)
		if st.Admitted || st.Position != n || st.Ahead != n-1 || st.Ticket.Number != n+1 {
			r.Errorf("the %d. in line: %+v", i+1, st)
		}
		if want := time.Duration(i) * 10 * time.Second; st.ETA != want {
			r.Errorf("ETA with %d ahead: %v, want %v", i, st.ETA, want)
		}
		if st.PollAfter < time.Second || st.PollAfter > gate.MaxPoll {
			r.Errorf("poll after %v", st.PollAfter)
		}
	}
	last := waiting[3]
	r.pass(25 * time.Second)
	r.poll(&last)
	if last.Position != 2 {
		r.Errorf("after 25 s: position %d, want 2", last.Position)
	}
	if last.PollAfter != 10*time.Second {
		r.Errorf("15 s before the turn: poll after %v", last.PollAfter)
	}
	r.pass(12 * time.Second)
	r.poll(&last)
	if last.PollAfter != 3*time.Second {
		r.Errorf("3 s before the turn: poll after %v", last.PollAfter)
	}
}

func burnsTokens(r *rig) {
	st := r.joinMany(2)[1]
	first := st.Ticket
	r.poll(&st)
	if st.Ticket.Number != first.Number || st.Ticket.Turn == first.Turn {
		r.Fatalf("the next turn: %+v after %+v", st.Ticket, first)
	}
	r.wantPoll(first, gate.ErrBurnt)     // somebody shares the token
	r.wantPoll(st.Ticket, gate.ErrBurnt) // so both are told
	r.wantExchange(st.Ticket, gate.ErrBurnt)
	again, err := r.store.Resume(r.Context(), r.now, r.id, first)
	if err != nil || again.Position != st.Position {
		r.Fatalf("the owner resumes: %+v, %v", again, err)
	}
	r.poll(&again)
	for _, made := range []gate.Ticket{{}, {Epoch: first.Epoch, Number: 99, Run: first.Run}, {Epoch: first.Epoch, Number: 2, Run: first.Run + 1}, {Epoch: first.Epoch + 1, Number: 2, Run: first.Run}} {
		r.wantPoll(made, gate.ErrGone)
	}
}

func resumes(r *rig) {
	st := r.joinMany(3)[2]
	r.pass(59 * time.Minute) // of the hour that tickets live
	back, err := r.store.Resume(r.Context(), r.now, r.id, st.Ticket)
	if err != nil || !back.Admitted || back.Ticket.Number != st.Ticket.Number {
		r.Fatalf("resume: %+v, %v", back, err)
	}
	r.wantPoll(st.Ticket, gate.ErrBurnt) // what a stolen token is worth then
}

func exchangesOnce(r *rig) {
	st := r.join()
	waiting := r.join()
	r.wantExchange(waiting.Ticket, gate.ErrNotYet)
	g := r.exchange(st.Ticket)
	if !g.At.Equal(r.now) || g.Until.Sub(g.At) != time.Minute || g.Ticket.Number != 1 || g.Room.ID != r.id {
		r.Errorf("grant: %+v", g)
	}
	r.pass(30 * time.Second)
	if again := r.exchange(st.Ticket); !again.At.Equal(g.At) || !again.Until.Equal(g.Until) {
		r.Errorf("exchanged again: %+v, first %+v", again, g)
	}
	r.poll(&st) // the page was reloaded
	if !st.Admitted {
		r.Errorf("after the exchange: %+v", st)
	}
	r.pass(30 * time.Second)
	r.wantExchange(st.Ticket, gate.ErrUsed)
	r.wantPoll(st.Ticket, gate.ErrUsed)
}

func endsTickets(r *rig) {
	all := r.joinMany(3)
	r.pass(50 * time.Second)
	r.poll(&all[2]) // seen, which renews it
	r.pass(20 * time.Second)
	r.wantPoll(all[1].Ticket, gate.ErrGone)
	if _, err := r.store.Resume(r.Context(), r.now, r.id, all[1].Ticket); !errors.Is(err, gate.ErrGone) {
		r.Errorf("resume: %v", err)
	}
	r.poll(&all[2])
	r.exchange(all[2].Ticket)
}

func resets(r *rig) {
	st := r.joinMany(5)[4]
	r.act(gate.Reset)
	r.wantPoll(st.Ticket, gate.ErrGone)
	l := r.live()
	if l.Issued != 0 || l.Admitted != 0 || l.PassedTotal != 0 {
		r.Errorf("after a reset: %+v", l)
	}
	next := r.join()
	if next.Ticket.Number != 1 || !next.Admitted {
		r.Errorf("the first after a reset: %+v", next)
	}
	r.wantPoll(gate.Ticket{Epoch: st.Ticket.Epoch, Number: 1, Run: st.Ticket.Run}, gate.ErrGone)
}

func closes(r *rig) {
	waiting := r.joinMany(2)[1]
	r.update(gate.Patch{Enabled: new(false)})
	if _, err := r.store.Join(r.Context(), r.now, r.id); !errors.Is(err, gate.ErrClosed) {
		r.Errorf("join: %v", err)
	}
	r.pass(time.Minute)
	r.poll(&waiting)
	if waiting.Admitted || waiting.Position != 1 || waiting.State != gate.Closed || waiting.ETA >= 0 {
		r.Errorf("waiting: %+v", waiting)
	}
	r.update(gate.Patch{Enabled: new(true)})
	r.pass(9 * time.Second)
	r.wantAdmitted(1)
	r.pass(time.Second)
	r.wantAdmitted(2)
}

func keepsCap(r *rig) {
	all := r.joinMany(5)
	r.wantAdmitted(2)
	if l := r.live(); l.OnSite != 2 {
		r.Errorf("on the site: %d", l.OnSite)
	}
	r.exchange(all[0].Ticket) // the other one does not come
	r.pass(gate.ClaimTime - time.Second)
	r.wantAdmitted(2)
	r.pass(time.Second)
	r.wantAdmitted(3)
	r.exchange(all[2].Ticket)
	r.act(gate.OpenGates) // which does not lift the cap
	r.wantAdmitted(3)
	r.pass(300*time.Second - gate.ClaimTime)
	r.wantAdmitted(4) // the first one's access has ended
	r.update(gate.Patch{Cap: new(0)})
	r.wantAdmitted(5)
	r.update(gate.Patch{Cap: new(1)})
	r.join()
	r.wantAdmitted(5)
}

func seatsLateOnes(r *rig) {
	all := r.joinMany(4)
	r.pass(gate.ClaimTime) // the first does not come, so it is the second's turn
	r.poll(&all[1])
	r.exchange(all[1].Ticket)
	r.poll(&all[0])
	if all[0].Admitted || all[0].Position != 1 {
		r.Errorf("late: %+v", all[0])
	}
	r.wantExchange(all[0].Ticket, gate.ErrNotYet)
	r.pass(30 * time.Second) // the claim has 30 s more than the access
	r.wantAdmitted(2)
	r.pass(30 * time.Second)
	r.poll(&all[0])
	if !all[0].Admitted {
		r.Errorf("a seat is free: %+v", all[0])
	}
	r.exchange(all[0].Ticket)
	r.wantAdmitted(2)
}
