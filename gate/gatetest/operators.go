package gatetest

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/andreimerlescu/concert/gate"
	"github.com/andreimerlescu/concert/persist"
)

func keepsRooms(r *rig) {
	ctx := r.Context()
	other := gate.DefaultRoom()
	other.ID = "another"
	l, err := r.store.Create(ctx, r.now, operator, other)
	if err != nil || l.Audience != "another" || l.State != gate.Open || !l.CreatedAt.Equal(r.now) {
		r.Errorf("create: %+v, %v", l, err)
	}
	if _, err := r.store.Create(ctx, r.now, operator, other); !errors.Is(err, gate.ErrRoomExists) {
		r.Errorf("create it again: %v", err)
	}
	all, err := r.store.Rooms(ctx, r.now)
	if err != nil || len(all) != 2 || all[0].ID != "another" || all[1].ID != "demo" {
		r.Errorf("rooms: %+v, %v", all, err)
	}
	r.update(gate.Patch{Inflow: new(7), Name: new("The shop"), Cap: new(3)})
	if l := r.live(); l.Inflow != 7 || l.Name != "The shop" || l.Cap != 3 || l.IntervalSec != 10 {
		r.Errorf("after the update: %+v", l)
	}
	r.join()
	if err := r.store.Delete(ctx, r.now, r.id); err != nil {
		r.Fatal(err)
	}
	for what, err := range r.everything() {
		if !errors.Is(err, gate.ErrNoRoom) {
			r.Errorf("%s in a deleted room: %v", what, err)
		}
	}
}

// everything calls every method that takes a room.
func (r *rig) everything() map[string]error {
	ctx, s := r.Context(), r.store
	t := gate.Ticket{Number: 1}
	errs := map[string]error{}
	_, errs["room"] = s.Room(ctx, r.now, r.id)
	_, errs["update"] = s.Update(ctx, r.now, operator, r.id, gate.Patch{})
	_, errs["act"] = s.Act(ctx, r.now, operator, r.id, gate.Pause)
	errs["delete"] = s.Delete(ctx, r.now, r.id)
	_, errs["messages"] = s.Messages(ctx, r.id)
	_, errs["add message"] = s.AddMessage(ctx, r.now, operator, r.id, gate.Message{Text: "x", Level: gate.Info})
	_, errs["update message"] = s.UpdateMessage(ctx, r.now, operator, r.id, "1", gate.MessagePatch{})
	errs["delete message"] = s.DeleteMessage(ctx, r.now, operator, r.id, "1")
	_, errs["audit"] = s.Audit(ctx, r.id, 1)
	_, errs["stats"] = s.Stats(ctx, r.now, r.id)
	_, errs["join"] = s.Join(ctx, r.now, r.id)
	_, errs["poll"] = s.Poll(ctx, r.now, r.id, t)
	_, errs["resume"] = s.Resume(ctx, r.now, r.id, t)
	_, errs["exchange"] = s.Exchange(ctx, r.now, r.id, t)
	return errs
}

func refusesBadRooms(r *rig) {
	bad := gate.Room{ID: "Demo Room", Name: "a\nb", Inflow: 0, IntervalSec: 0, Burst: -1, Cap: -1,
		QueueTTLSec: 1, AccessTTLSec: 1, Audience: gate.QueueAudience, TargetURL: "javascript:alert(1)"}
	_, err := r.store.Create(r.Context(), r.now, operator, bad)
	for _, name := range []string{"id", "name", "inflow", "interval_sec", "burst", "cap", "queue_ttl_sec", "access_ttl_sec", "audience", "target_url"} {
		if err == nil || !strings.Contains(err.Error(), name+" ") && !strings.Contains(err.Error(), name+":") {
			r.Errorf("nothing about %s in: %v", name, err)
		}
	}
	var invalid *gate.InvalidError
	if _, err := r.store.Update(r.Context(), r.now, operator, r.id, gate.Patch{Inflow: new(-1)}); !errors.As(err, &invalid) {
		r.Errorf("update: %v", err)
	}
	if _, err := r.store.Act(r.Context(), r.now, operator, r.id, "explode"); !errors.As(err, &invalid) {
		r.Errorf("act: %v", err)
	}
	if l := r.live(); l.Inflow != 1 {
		r.Errorf("a refused update changed the room: %+v", l)
	}
}

func keepsMessages(r *rig) {
	ctx := r.Context()
	add := func(text string, l gate.Level) gate.Message {
		m, err := r.store.AddMessage(ctx, r.now, operator, r.id, gate.Message{Text: text, Level: l, Enabled: true})
		if err != nil {
			r.Fatal(err)
		}
		return m
	}
	first, second := add("Did you know…", gate.Info), add("Sold out in S", gate.Warning)
	for _, m := range []gate.Message{{Text: "", Level: gate.Info}, {Text: "x", Level: "loud"}, {Text: strings.Repeat("x", 401), Level: gate.Info}} {
		if _, err := r.store.AddMessage(ctx, r.now, operator, r.id, m); err == nil {
			r.Errorf("%+v was taken", m)
		}
	}
	changed, err := r.store.UpdateMessage(ctx, r.now, operator, r.id, second.ID, gate.MessagePatch{Enabled: new(false), Text: new("Sold out")})
	if err != nil || changed.Enabled || changed.Text != "Sold out" || changed.Level != gate.Warning || changed.ID != second.ID {
		r.Errorf("update: %+v, %v", changed, err)
	}
	if err := r.store.DeleteMessage(ctx, r.now, operator, r.id, first.ID); err != nil {
		r.Error(err)
	}
	if err := r.store.DeleteMessage(ctx, r.now, operator, r.id, first.ID); !errors.Is(err, gate.ErrNoMessage) {
		r.Errorf("delete it again: %v", err)
	}
	third := add("More soon", gate.Info)
	if third.ID == first.ID || third.ID == second.ID {
		r.Errorf("the id %s is used again", third.ID)
	}
	all, err := r.store.Messages(ctx, r.id)
	if err != nil || len(all) != 2 || all[0].ID != second.ID || all[1].ID != third.ID {
		r.Errorf("messages: %+v, %v", all, err)
	}
	for range gate.MaxMessages - 2 {
		add("again", gate.Info)
	}
	if _, err := r.store.AddMessage(ctx, r.now, operator, r.id, gate.Message{Text: "x", Level: gate.Info}); !errors.Is(err, gate.ErrFull) {
		r.Errorf("one too many: %v", err)
	}
}

func keepsAudit(r *rig) {
	r.pass(time.Second)
	r.update(gate.Patch{Inflow: new(2)})
	r.update(gate.Patch{Inflow: new(2)}) // which changes nothing
	r.act(gate.Pause)
	acts, err := r.store.Audit(r.Context(), r.id, 10)
	if err != nil || len(acts) != 3 || acts[0].What != "pause" || acts[1].What != "update" || acts[2].What != "create" {
		r.Fatalf("audit: %+v, %v", acts, err)
	}
	c := acts[1].Changes
	if len(c) != 1 || c[0].Key != "inflow" || c[0].From != "1" || c[0].To != "2" || acts[1].Who != "token" || acts[1].Client != "192.0.2.1" || !acts[1].At.Equal(r.now) {
		r.Errorf("the update: %+v", acts[1])
	}
	for range 300 {
		r.act(gate.Resume)
	}
	if acts, _ := r.store.Audit(r.Context(), r.id, 5); len(acts) != 5 || slices.ContainsFunc(acts, func(a persist.Act) bool { return a.What != "resume" }) {
		r.Errorf("the latest: %+v", acts)
	}
}

func counts(r *rig) {
	r.update(gate.Patch{Burst: new(2)})
	r.pass(30 * time.Second)
	visitors := r.joinMany(5)
	r.exchange(visitors[0].Ticket)
	r.exchange(visitors[1].Ticket)
	l := r.live()
	if l.Issued != 5 || l.Admitted != 2 || l.QueueLength != 3 || l.PassedTotal != 2 {
		r.Errorf("live: %+v", l)
	}
	peakAt := r.now
	r.pass(5 * time.Minute)
	r.exchange(visitors[2].Ticket)
	r.exchange(visitors[2].Ticket) // an answer that was lost
	s, err := r.store.Stats(r.Context(), r.now, r.id)
	if err != nil || s.Passed != 3 || s.PeakQueue < 3 || !s.PeakQueueAt.Equal(peakAt) || s.PeakRate != 2 || !s.PeakRateAt.Equal(peakAt) {
		r.Errorf("stats: %+v, %v", s, err)
	}
	per := map[time.Time]uint64{}
	for _, m := range s.PassedPerMinute {
		per[m.Minute] = m.Passed
	}
	if len(per) != 60 || per[peakAt.Truncate(time.Minute)] != 2 || per[r.now.Truncate(time.Minute)] != 1 {
		r.Errorf("per minute: %v", per)
	}
	r.pass(24 * time.Hour)
	if s, _ := r.store.Stats(r.Context(), r.now, r.id); s.Passed != 3 || s.PassedPerMinute[59].Minute != r.now.Truncate(time.Minute) ||
		slices.ContainsFunc(s.PassedPerMinute, func(m gate.Minute) bool { return m.Passed != 0 }) {
		r.Errorf("a day later: %+v", s)
	}
}

func keepsApart(r *rig) {
	other := gate.DefaultRoom()
	other.ID = "other"
	if _, err := r.store.Create(r.Context(), r.now, operator, other); err != nil {
		r.Fatal(err)
	}
	r.joinMany(3)
	st, err := r.store.Join(r.Context(), r.now, "other")
	if err != nil || st.Ticket.Number != 1 || !st.Admitted {
		r.Errorf("join the other: %+v, %v", st, err)
	}
	if l := r.live(); l.Issued != 3 || l.Admitted != 1 {
		r.Errorf("this one: %+v", l)
	}
}

func spendsOnce(r *rig) {
	spend := func(id string, want bool) {
		if got, err := r.store.Spend(r.Context(), r.now, id, r.now.Add(time.Minute)); err != nil || got != want {
			r.Errorf("spend %s: %v, %v; want %v", id, got, err, want)
		}
	}
	spend("a", true)
	spend("a", false)
	spend("b", true)
	r.pass(59 * time.Second)
	spend("a", false)
}
