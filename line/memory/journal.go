package memory

import (
	"time"

	"github.com/andreimerlescu/concert/line"
)

var _ line.Journaled = (*Line)(nil)

// journalMost is how many changes are kept for Changes, at most.
const journalMost = 1 << 15

// journal keeps the changes of the line until somebody takes them.
type journal struct {
	on       bool
	sequence uint64 // of the last change
	changes  []line.Change
}

func (j *journal) add(c line.Change) {
	if len(j.changes) >= journalMost {
		j.changes = j.changes[:0] // nobody has come for them: the gap tells
	}
	j.sequence++
	c.Sequence = j.sequence
	j.changes = append(j.changes, c)
}

func (j *journal) drop(number uint64) {
	if j.on {
		j.add(line.Change{Kind: line.Drop, Ticket: line.SavedTicket{Ticket: line.Ticket{Number: number}}})
	}
}

// Changes moves the changes since the last call to the end of into. When there
// were more than 32,768, some are missing.
func (l *Line) Changes(into []line.Change) []line.Change {
	l.mu.Lock()
	defer l.mu.Unlock()
	into = append(into, l.journal.changes...)
	l.journal.changes = l.journal.changes[:0]
	return into
}

// put records where ticket i stands.
func (l *Line) put(i int32) {
	if !l.journal.on {
		return
	}
	at := l.order.find(i)
	c := line.Change{Kind: line.Put, Ticket: l.saved(i, at.class())}
	c.Ticket.Absent = at.class() == absent
	if behind := l.order.behind(at); behind != 0 {
		c.Before = l.slab.at(behind).number
	}
	l.journal.add(c)
}

// sawFrom records that ticket i of one class, now of another, was seen and
// given a time to ask again, unless it was present all along.
func (l *Line) sawFrom(was, is class, t *ticket, p time.Duration) {
	if !l.journal.on || is == fresh {
		return
	}
	switch was {
	case absent, fresh, awaited, door:
		l.journal.add(line.Change{Kind: line.Seen, Ticket: line.SavedTicket{
			Ticket: line.Ticket{Number: t.number}, LastSeen: l.time(t.seen), PollAfter: backIn(t, p.Truncate(time.Millisecond)),
		}})
	}
}
