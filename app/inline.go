package app

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/andreimerlescu/concert/line"
	redisline "github.com/andreimerlescu/concert/line/redis"
	"github.com/andreimerlescu/concert/persist"
	"github.com/andreimerlescu/concert/rooms"
	"github.com/andreimerlescu/concert/stages/pass"
	"github.com/andreimerlescu/concert/stages/priority"
	"github.com/andreimerlescu/concert/stages/queue"
)

// inlineRoom is a room beside the default one, with a line and stages of its
// own. It stays as long as the process: a room that is taken out of the settings
// gets no more visits, and one that is put back has everybody who still waits.
type inlineRoom struct {
	id     string
	line   line.Line
	shared *redisline.Line // the same, when it is in Redis
	files  *persist.LineFiles

	pass     *pass.Stage
	priority *priority.Stage
	queue    *queue.Stage

	set    atomic.Pointer[line.Settings] // that it goes by
	places []line.Slot                   // that stand for pages of a predecessor; guarded by App.change
}

// inlineRooms are all of them.
type inlineRooms struct {
	table atomic.Pointer[roomTable] // nil: there are none

	mu    sync.Mutex // guards the fields below
	known []*inlineRoom
	ctx   context.Context // of run; nil while it is not under way
	tasks sync.WaitGroup  // of run
}

// roomTable is what one configuration has of rooms. It does not change.
type roomTable struct {
	set   *rooms.Set
	rooms map[string]*inlineRoom // by id
}

// get returns the room with an id; nil for the default one, and for one that is
// no longer there.
func (i *inlineRooms) get(id string) *inlineRoom {
	if id == "" {
		return nil
	}
	if t := i.table.Load(); t != nil {
		return t.rooms[id]
	}
	return nil
}

// all returns every room there was since the process began.
func (i *inlineRooms) all() []*inlineRoom {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.known)
}

// find returns the room with an id among all; nil when there was none.
func (i *inlineRooms) find(id string) *inlineRoom {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, r := range i.known {
		if r.id == id {
			return r
		}
	}
	return nil
}

// add takes a room in, and has it move along with time.
func (i *inlineRooms) add(r *inlineRoom) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.known = append(i.known, r)
	if i.ctx != nil {
		i.driveLocked(r)
	}
}

// driveLocked begins to move a room's line along. What it starts ends with run.
func (i *inlineRooms) driveLocked(r *inlineRoom) {
	ctx := i.ctx
	i.tasks.Go(func() { line.Drive(ctx, r.line) })
	if r.shared != nil {
		i.tasks.Go(func() { r.shared.Run(ctx) })
	}
}

// run moves the lines of all rooms along with time, until ctx ends.
func (i *inlineRooms) run(ctx context.Context) {
	i.mu.Lock()
	i.ctx = ctx
	for _, r := range i.known {
		i.driveLocked(r)
	}
	i.mu.Unlock()
	<-ctx.Done()
	i.mu.Lock()
	i.ctx = nil
	i.mu.Unlock()
	i.tasks.Wait()
}

// lines are those of all rooms, the default one's first.
func (a *App) lines() []line.Line {
	all := []line.Line{a.line}
	for _, r := range a.inline.all() {
		all = append(all, r.line)
	}
	return all
}
