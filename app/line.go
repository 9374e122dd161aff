package app

import (
	"context"
	"fmt"
	"time"

	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/line/memory"
	"github.com/andreimerlescu/concert/persist"
)

// restoreLine makes the line, with everybody in it who is known to wait.
func (a *App) restoreLine(c *config.Config, kept *legacy, now time.Time) error {
	if c.RedisURL != "" {
		return a.joinLine(c, now)
	}
	set := lineSettings(c)
	a.line = memory.New(memory.Options{Settings: opening(set), Start: now, Record: a.data.Path() != ""})
	saved := persist.SavedLine{}
	if kept != nil {
		saved = kept.line
	} else {
		saved = a.loadLine(a.data.LineFiles)
	}
	var err error
	a.places, err = a.fillLine(context.Background(), a.line, filling{set, saved, a.left.Pages, ""}, now)
	return err
}

// loadLine is the line that a file has.
func (a *App) loadLine(from *persist.LineFiles) persist.SavedLine {
	saved, err := from.LoadLine()
	if err != nil {
		a.log.Error("the line could not be restored; whoever comes back with a ticket keeps their place", "error", err)
	}
	return saved
}

// filling is what an empty line begins with.
type filling struct {
	set   line.Settings
	saved persist.SavedLine
	pages int    // that a predecessor still has at the origin
	room  string // for the log
}

// opening is what a line is made with that is to be filled: what stands in for
// pages of a predecessor is no visitor.
func opening(set line.Settings) line.Settings {
	set.Policy.Inflow, set.Mode = 0, line.Open
	return set
}

// fillLine brings an empty line to where it was.
func (a *App) fillLine(ctx context.Context, l line.Line, f filling, now time.Time) (places []line.Slot, err error) {
	if places, err = standIn(ctx, l, f.pages, now); err == nil {
		err = l.Configure(ctx, now, f.set)
	}
	if err != nil {
		return nil, fmt.Errorf("start the line: %w", err)
	}
	// Who is missing from a line that was not saved in the end is put back
	// with their ticket.
	if err := l.Restore(ctx, now, f.saved.Snapshot, !f.saved.Clean); err != nil {
		return nil, fmt.Errorf("restore the line: %w", err)
	}
	if n := l.Stats(now).Live; n > 0 {
		a.log.Info("the line is back", "waiting", n, "saved", f.saved.Taken, "clean", f.saved.Clean, "room", f.room)
	}
	return places, nil
}

// standIn takes a slot for each page that a predecessor still has at the
// origin, so that both together keep to the cap. The line must be empty.
func standIn(ctx context.Context, l line.Line, pages int, now time.Time) (places []line.Slot, err error) {
	for len(places) < pages {
		d, err := l.Enter(ctx, now, line.Entry{NoPlace: true})
		switch {
		case err != nil:
			return nil, err
		case d.Verdict != line.Admitted:
			return places, nil // the cap is reached
		}
		places = append(places, d.Slot)
	}
	return places, nil
}

// beginSaving marks what is saved of a line as that of a running process.
func (a *App) beginSaving(l line.Line, to *persist.LineFiles, room string) {
	snapshot, err := l.Snapshot(context.Background(), time.Now())
	if err == nil {
		err = to.BeginLine(snapshot)
	}
	if err != nil {
		a.log.Error("after a crash, those who come from now on would lose their places", "room", room, "error", err)
	}
}

// takeLine copies the line. One that is shared stays where it is.
func (a *App) takeLine() (line.Snapshot, error) {
	if a.shared.line != nil {
		return line.Snapshot{Taken: time.Now()}, nil
	}
	return a.line.Snapshot(context.Background(), time.Now())
}

// sourceOf is a line for the data directory to keep.
func sourceOf(of line.Line) persist.LineSource {
	s := persist.LineSource{Take: func() (line.Snapshot, error) { return of.Snapshot(context.Background(), time.Now()) }}
	if l, ok := of.(line.Journaled); ok {
		s.Changes = l.Changes
	}
	return s
}
