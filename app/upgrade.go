package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/andreimerlescu/concert/handover"
	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/persist"
	"github.com/andreimerlescu/concert/stages/priority"
)

// Upgrade starts a new process of the same program and hands the sockets, the
// line and the data directory over to it. When it returns nil the other one
// serves; then end the context of Serve, which lets the requests under way
// finish here. With an error everything is as before.
//
// It takes Options.Process; ctx bounds the whole.
func (a *App) Upgrade(ctx context.Context) error {
	return handOver(ctx, a.options.Process, handover.Plan{Freeze: a.freeze, Thaw: a.thaw, InFlight: a.inFlight}, a.data, a.log)
}

// handOver has a new process take over as planned, with the data directory. p is
// nil for a program that has no part in hand-overs.
func handOver(ctx context.Context, p *handover.Process, plan handover.Plan, data *persist.Dir, log *slog.Logger) error {
	if p == nil {
		return handover.ErrUnsupported
	}
	if lock := data.Lock(); lock != nil {
		plan.Files = map[string]*os.File{"lock": lock}
	}
	if err := p.Upgrade(ctx, plan); err != nil {
		return err
	}
	if err := data.Close(); err != nil {
		log.Warn("the data directory was not closed", "error", err)
	}
	return nil
}

// freeze stops everything that another process must not do at the same time:
// letting in, changing, saving.
func (a *App) freeze(ctx context.Context) ([]byte, error) {
	a.change.Lock()
	defer a.change.Unlock()
	a.frozen = true
	a.stages.leaving.Leave(true)
	a.history.Leave(true)
	a.quic.Load().become(resting)
	if err := a.closeLane(); err != nil {
		return nil, fmt.Errorf("close the priority lane: %w", err)
	}
	now := time.Now()
	if a.shared.line != nil {
		a.keeper.pause()
		return a.leave(now) // those at the door are let in as if nothing happened
	}
	err := a.line.Configure(ctx, now, dwindling(lineSettings(a.cfg.Load()), a.line.Stats(now)))
	for _, r := range a.inline.all() {
		err = errors.Join(err, r.line.Configure(ctx, now, dwindling(*r.set.Load(), r.line.Stats(now))))
	}
	if err != nil {
		return nil, fmt.Errorf("close the line: %w", err)
	}
	a.keeper.pause()
	return a.leave(now)
}

// closeLane has nobody use the priority lane who does not wait in it already.
func (a *App) closeLane() error {
	p, err := a.plan(a.cfg.Load())
	if err != nil {
		return err
	}
	p.priority.LaneRank, p.priority.Forms = priority.NoLane, false
	err = a.stages.priority.Apply(p.priority)
	for i := range p.rooms {
		of := &p.rooms[i]
		of.priority.LaneRank, of.priority.Forms = priority.NoLane, false
		err = errors.Join(err, of.room.priority.Apply(of.priority))
	}
	return err
}

// dwindling are the settings of a line that lets in nobody but those who stand
// at its door, one for one that leaves. The successor knows them as absent, so
// it does not wait for them, and has a place for whom the door does not let in.
// By a rate nobody is let in: the whole rate is the successor's.
func dwindling(set line.Settings, st line.Stats) line.Settings {
	full := set.Policy.Cap
	set.DoorMax, set.Policy.Cap = 0, st.InFlight
	if set.Mode == line.Open && (st.InFlight == 0 || st.AtDoor == 0 || set.Policy.Inflow > 0) {
		set.Mode, set.Policy.Cap = line.Paused, full
	}
	return set
}

// thaw undoes freeze.
func (a *App) thaw() {
	a.change.Lock()
	defer a.change.Unlock()
	a.frozen = false
	if err := a.reconfigure(context.Background(), a.cfg.Load()); err != nil {
		a.log.Error("nobody is let in: send SIGHUP", "error", err)
	}
	a.resumeKeeping()
	a.history.Leave(false)
	a.stages.leaving.Leave(false)
	if a.gate != nil {
		a.gate.stay()
	}
	a.quic.Load().become(serving)
}

// inFlight is the most that this process will have at the origin from now on.
// The priority lane counts as pages: a successor that has so many fewer slots
// keeps to the sum of both.
func (a *App) inFlight() handover.InFlight {
	n := handover.InFlight{
		Pages:   a.pagesToCome(a.line, lineSettings(a.cfg.Load())) + a.stages.priority.Stats().LaneInFlight,
		Assets:  a.stages.assets.Stats().InFlight,
		Streams: a.stages.streams.Stats().Active,
	}
	for _, r := range a.inline.all() {
		if pages := a.pagesToCome(r.line, *r.set.Load()) + r.priority.Stats().LaneInFlight; pages > 0 {
			if n.Rooms == nil {
				n.Rooms = make(map[string]int)
			}
			n.Rooms[r.id] = pages
		}
	}
	return n
}

// pagesToCome is the cap of a dwindling line, which goes by set otherwise. Once
// nobody is at its door, the line is paused, and the number is what it still
// has.
func (a *App) pagesToCome(l line.Line, set line.Settings) int {
	if a.shared.line != nil {
		return 0 // they are on the successor's account already, as on everybody's
	}
	now := time.Now()
	st := l.Stats(now)
	if st.Settings.Mode != line.Open {
		return st.InFlight
	}
	if st.AtDoor > 0 {
		return st.Settings.Policy.Cap
	}
	if err := l.Configure(context.Background(), now, dwindling(set, st)); err != nil {
		return st.Settings.Policy.Cap
	}
	return l.Stats(now).InFlight // after that it only falls
}

// predecessorHas gives back what stands in for a predecessor's requests as
// they end.
func (a *App) predecessorHas(n handover.InFlight) {
	a.change.Lock()
	defer a.change.Unlock()
	now := time.Now()
	a.places = giveBack(a.line, a.places, n.Pages, now)
	for _, r := range a.inline.all() {
		r.places = giveBack(r.line, r.places, n.Rooms[r.id], now)
	}
	c := a.cfg.Load()
	changed := n.Assets != a.left.Assets || n.Streams != a.left.Streams
	a.left = n
	if !changed {
		return
	}
	if err := a.stages.assets.Apply(a.assetConfig(c)); err != nil {
		a.log.Error("BUG: the asset pool is not resized", "error", err)
	}
	if err := a.stages.streams.Apply(a.streamConfig(c)); err != nil {
		a.log.Error("BUG: the stream pool is not resized", "error", err)
	}
}

// giveBack releases places of a line until n are left, and returns those.
func giveBack(l line.Line, places []line.Slot, n int, now time.Time) []line.Slot {
	for len(places) > n {
		last := len(places) - 1
		l.Release(now, places[last])
		places = places[:last]
	}
	return places
}
