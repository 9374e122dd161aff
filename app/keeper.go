package app

import (
	"context"
	"sync"
	"time"

	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/persist"
)

// lineEvery is the pause between two saves of the line.
const lineEvery = 10 * time.Second

// keeper saves bans and the line as they change.
type keeper struct {
	mu   sync.Mutex // guards the fields below
	on   bool       // from the beginning of Run to its end
	halt func()     // ends it and waits for that; nil while it does not save
}

// keep saves what changes until ctx ends, and all of it then, unless another
// process has taken over.
func (a *App) keep(ctx context.Context) {
	a.keeper.turn(true)
	a.resumeKeeping()
	<-ctx.Done()
	a.keeper.turn(false)
	a.keeper.pause()
	a.change.Lock()
	defer a.change.Unlock()
	if a.frozen || a.shared.line != nil {
		return
	}
	a.saveLine(a.line, a.data.LineFiles)
	for _, r := range a.inline.all() {
		a.saveLine(r.line, r.files)
	}
}

// saveLine saves a line at rest.
func (a *App) saveLine(l line.Line, to *persist.LineFiles) {
	snapshot, err := l.Snapshot(context.Background(), time.Now())
	if err == nil {
		err = to.SaveLine(persist.SavedLine{Snapshot: snapshot, Clean: true})
	}
	if err != nil {
		a.log.Error("the line is not saved; after the next start, whoever comes back with a ticket keeps their place", "error", err)
	}
}

// resumeKeeping saves from now on, if Run is under way.
func (a *App) resumeKeeping() {
	a.keeper.mu.Lock()
	defer a.keeper.mu.Unlock()
	if !a.keeper.on || a.keeper.halt != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { // ends with ctx
		if err := a.bans.Run(ctx); err != nil {
			a.log.Error("the latest bans are not saved", "error", err)
		}
	})
	if a.shared.line == nil {
		wg.Go(func() { a.data.KeepLine(ctx, lineEvery, sourceOf(a.line)) }) // ends with ctx
		for _, r := range a.inline.all() {
			wg.Go(func() { r.files.KeepLine(ctx, lineEvery, sourceOf(r.line)) }) // ends with ctx
		}
	}
	wg.Go(func() { // ends with ctx
		a.marks.run(ctx, func(what string, err error) {
			a.log.Error("the latest are not saved", "what", what, "error", err)
		})
	})
	a.keeper.halt = func() {
		cancel()
		wg.Wait()
	}
}

func (k *keeper) turn(on bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.on = on
}

// pause ends the saving; what was to be saved is saved then. It reports whether
// there was any saving to end.
func (k *keeper) pause() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.halt == nil {
		return false
	}
	k.halt()
	k.halt = nil
	return true
}
