package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/internal/notice"
	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/line/memory"
	"github.com/andreimerlescu/concert/persist"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/rooms"
	"github.com/andreimerlescu/concert/signed"
	"github.com/andreimerlescu/concert/stages/pass"
	"github.com/andreimerlescu/concert/stages/priority"
	"github.com/andreimerlescu/concert/stages/queue"
)

// roomPlan is a configuration translated for one room.
type roomPlan struct {
	room     *inlineRoom // a new one as long as it is not adopted
	line     line.Settings
	pass     pass.Config
	priority priority.Config
	queue    queue.Config
}

// roomLine is what a room's line goes by: its own limits, and else the settings
// of the default room.
func roomLine(c *config.Config, r *rooms.Room) line.Settings {
	s := lineSettings(c)
	s.Policy = line.Policy{Cap: r.Cap, Inflow: r.Inflow, Interval: r.Interval, Burst: r.Burst}
	if r.Burst == 0 {
		s.Policy.Burst = r.Inflow
	}
	s.Mode = r.Mode
	if r.MaxQueue != rooms.Inherit {
		s.MaxWaiting = r.MaxQueue
	}
	return s
}

// planRooms plans every room, and tries what it comes to. The rest of p must be
// planned.
func (a *App) planRooms(p *plan) error {
	if p.pass.Keyring == nil || p.queue.Tickets == nil || p.priority.Grants == nil {
		return nil // reported already
	}
	var problems []error
	all := p.cfg.Rooms.All()
	for i := range all {
		one, err := a.planRoom(p, &all[i])
		if err == nil {
			_, err = one.stages()
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("room %q: %w", all[i].ID, err))
			continue
		}
		p.rooms = append(p.rooms, one)
	}
	return errors.Join(problems...)
}

func (a *App) planRoom(p *plan, spec *rooms.Room) (roomPlan, error) {
	c, set := p.cfg, roomLine(p.cfg, spec)
	room := a.inline.find(spec.ID)
	if room == nil {
		room = a.newRoom(c, spec.ID, set)
	}
	q := roomPlan{room: room, line: set, pass: p.pass, priority: p.priority, queue: p.queue}
	q.pass.Room, q.priority.Room, q.queue.Room = spec.ID, spec.ID, spec.ID
	q.priority.Line, q.queue.Line = room.line, room.line
	q.priority.Cap = 0 // a quarter of the room's own
	q.priority.HasPlace = func(v *pipeline.Visit) bool { return room.queue.HasPlace(v) }
	q.queue.Market, q.queue.SkipURL, q.queue.Fronted = nil, "", nil
	q.queue.Overtaken = c.RankOrder
	q.queue.Placed, q.queue.Removed = nil, nil
	q.queue.Recheck = func(v *pipeline.Visit) (pipeline.Verdict, error) { return a.stages.ban.Enter(v) }
	if spec.Name != "" {
		q.queue.Look.Name = spec.Name
	}
	q.queue.HTML = spec.Page
	var errs [4]error
	if spec.Message != "" {
		q.queue.Look.Warning = spec.Warning
		q.queue.Look.Message, errs[0] = notice.Parse(spec.Message)
	}
	q.pass.Keyring, errs[1] = signed.NewKeyring(c.AdmitSecrets, signed.InRoom(pass.Purpose, spec.ID))
	q.queue.Tickets, errs[2] = signed.NewKeyring(c.AdmitSecrets, signed.InRoom(queue.TicketPurpose, spec.ID))
	q.priority.Grants, errs[3] = signed.NewKeyring(c.AdmitSecrets, signed.InRoom(priority.Purpose, spec.ID))
	return q, errors.Join(errs[:]...)
}

// newRoom makes a room with an empty line, which nobody knows of yet.
func (a *App) newRoom(c *config.Config, id string, set line.Settings) *inlineRoom {
	r := &inlineRoom{id: id, files: a.data.Room(id)}
	if a.shared.line == nil {
		r.line = memory.New(memory.Options{Settings: opening(set), Start: time.Now(), Record: a.data.Path() != ""})
		return r
	}
	r.shared = a.sharedLine(c, c.RedisRoom+"/"+id, set)
	r.line = r.shared
	return r
}

// stages builds a room's stages.
func (q *roomPlan) stages() (*inlineRoom, error) {
	s := &inlineRoom{}
	var errs [3]error
	s.pass, errs[0] = pass.New(q.pass)
	s.priority, errs[1] = priority.New(q.priority)
	s.queue, errs[2] = queue.New(q.queue)
	return s, errors.Join(errs[:]...)
}

// applyRooms puts the rooms of a plan in force. Called with change held.
func (a *App) applyRooms(ctx context.Context, p *plan, kept *legacy, now time.Time) error {
	table := &roomTable{p.cfg.Rooms, make(map[string]*inlineRoom, len(p.rooms))}
	fresh := false
	for i := range p.rooms {
		q := &p.rooms[i]
		var err error
		if a.inline.find(q.room.id) == nil {
			fresh = true
			err = a.adoptRoom(ctx, q, kept, now)
		} else {
			err = q.apply(ctx, now)
		}
		if err != nil {
			return fmt.Errorf("room %q: %w", q.room.id, err)
		}
		q.room.set.Store(&q.line)
		table.rooms[q.room.id] = q.room
	}
	if fresh && a.keeper.pause() {
		a.resumeKeeping() // with the new ones
	}
	if len(table.rooms) == 0 {
		table = nil
	}
	a.inline.table.Store(table)
	return nil
}

// apply has a room go by a plan.
func (q *roomPlan) apply(ctx context.Context, now time.Time) error {
	if err := q.room.line.Configure(ctx, now, q.line); err != nil {
		return fmt.Errorf("configure the line: %w", err)
	}
	return errors.Join(q.room.pass.Apply(q.pass), q.room.priority.Apply(q.priority), q.room.queue.Apply(q.queue))
}

// adoptRoom takes a new room in, with everybody in it who is known to wait.
func (a *App) adoptRoom(ctx context.Context, q *roomPlan, kept *legacy, now time.Time) error {
	s, err := q.stages()
	if err != nil {
		return err
	}
	r := q.room
	r.pass, r.priority, r.queue = s.pass, s.priority, s.queue
	if r.shared != nil {
		join(ctx, r.shared, now)
		a.inline.add(r)
		return nil
	}
	var saved persist.SavedLine
	switch {
	case kept == nil:
		saved = a.loadLine(r.files)
	case kept.rooms != nil:
		saved = kept.rooms[r.id]
	}
	if r.places, err = a.fillLine(ctx, r.line, filling{q.line, saved, a.left.Rooms[r.id], "room " + r.id}, now); err != nil {
		return err
	}
	a.beginSaving(r.line, r.files, r.id)
	a.inline.add(r)
	return nil
}
