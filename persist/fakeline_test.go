package persist

import (
	"sync"
	"time"

	"github.com/andreimerlescu/concert/line"
)

// fakeLine is a line of which only the changes are real: they are replayed.
type fakeLine struct {
	mu      sync.Mutex // guards the fields below
	replay  *line.Replay
	changes []line.Change
	last    uint64
}

func newFakeLine() *fakeLine {
	return &fakeLine{replay: line.NewReplay(line.Snapshot{Taken: epoch(), Next: 1, Line: 7})}
}

// does makes a change.
func (f *fakeLine) does(kind line.ChangeKind, number, before uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last++
	c := line.Change{Sequence: f.last, Kind: kind, Before: before}
	c.Ticket.Ticket.Number = number
	switch kind {
	case line.Put:
		c.Ticket = sampleLine(int(number)).Tickets[number-1]
	case line.Seen:
		c.Ticket.LastSeen, c.Ticket.PollAfter = epoch().Add(time.Duration(number)*time.Second), 1500*time.Millisecond
	}
	f.changes = append(f.changes, c)
	f.replay.Apply(c)
}

// play makes changes of every kind.
func (f *fakeLine) play(from, to uint64) {
	for n := from; n < to; n++ {
		f.does(line.Put, n, 0)
	}
	f.does(line.Put, to, from+1)
	f.does(line.Seen, from, 0)
	f.does(line.Drop, from+2, 0)
	f.does(line.Put, to-1, from)
}

func (f *fakeLine) snapshot() line.Snapshot {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.replay.Snapshot()
}

func (f *fakeLine) source() LineSource {
	return LineSource{
		Take: func() (line.Snapshot, error) { return f.snapshot(), nil },
		Changes: func(into []line.Change) []line.Change {
			f.mu.Lock()
			defer f.mu.Unlock()
			into = append(into, f.changes...)
			f.changes = f.changes[:0]
			return into
		},
	}
}

func begun() line.Snapshot { return newFakeLine().snapshot() }
