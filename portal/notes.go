package portal

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/andreimerlescu/concert/internal/ticks"
	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/pipeline"
)

const (
	maxNotes  = 200_000
	maxAgents = 20_000 // different user agents that notes share
	maxPath   = 256    // bytes
	maxAgent  = 200    // bytes
	// notesEvery is how often a part of the notes is looked over; all are within
	// notesParts times that.
	notesEvery = time.Second
	notesParts = 60
)

// note is what the line does not keep of a visitor.
type note struct {
	path  string
	agent string // shared by all that have the same
	pass  bool   // paid to skip the line
	over  int64  // Unix nanoseconds of when the place was first found to have run out; 0 is not yet
}

// notes are what is known of the visitors in line, by ticket number. The line
// knows no HTTP and is kept small; they are here only while there is a portal.
type notes struct {
	most    int           // notes at once
	dropped atomic.Uint64 // notes that made room while their visitors waited
	ranked  atomic.Uint64 // visitors with a rank who got a place

	mu     sync.Mutex // guards the fields below
	byNo   map[uint64]note
	order  []uint64 // the numbers, the oldest first, from head on
	head   int
	look   int // where in order the next part to look over begins
	agents map[string]string
}

func newNotes(most int) *notes {
	return &notes{most: most, byNo: make(map[uint64]note), agents: make(map[string]string)}
}

// Placed takes down the visitor of a ticket, the first time that one is shown
// their place. It is for queue.Config.
func (p *Portal) Placed(v *pipeline.Visit, t line.Ticket) {
	n := p.notes
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, known := n.byNo[t.Number]; known {
		return
	}
	for len(n.byNo) >= n.most {
		n.dropOldestLocked()
	}
	n.byNo[t.Number] = note{
		path:  strings.Clone(cut(p.target(v), maxPath)),
		agent: n.shareLocked(cut(v.R.UserAgent(), maxAgent)),
		pass:  v.VIP,
	}
	n.order = append(n.order, t.Number)
	if v.Rank != pipeline.Guest {
		n.ranked.Add(1)
	}
}

// target is what a visitor asked for, without the query when the history leaves
// those out as well.
func (p *Portal) target(v *pipeline.Visit) string {
	if !p.Concert.Config().HistoryQuery {
		return v.R.URL.EscapedPath()
	}
	return v.R.URL.RequestURI()
}

// shareLocked returns the one copy of a user agent.
func (n *notes) shareLocked(agent string) string {
	if shared, known := n.agents[agent]; known {
		return shared
	}
	if len(n.agents) >= maxAgents {
		clear(n.agents) // those in use go on being used by the notes that have them
	}
	agent = strings.Clone(agent)
	n.agents[agent] = agent
	return agent
}

func (n *notes) dropOldestLocked() {
	number := n.order[n.head]
	n.head++
	if _, there := n.byNo[number]; there {
		delete(n.byNo, number)
		n.dropped.Add(1)
	}
	n.compactLocked()
}

// compactLocked moves the order to the front of its slice once half is unused.
func (n *notes) compactLocked() {
	if n.head > 1024 && n.head > len(n.order)/2 {
		kept := copy(n.order, n.order[n.head:])
		n.order, n.look, n.head = n.order[:kept], max(0, n.look-n.head), 0
	}
}

// of returns the note of a ticket; the zero note when there is none.
func (n *notes) of(number uint64) note {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.byNo[number]
}

func (n *notes) count() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.byNo)
}

// keepNotes drops the notes of those who are no longer in line.
func (p *Portal) keepNotes(ctx context.Context) {
	ticks.Each(ctx, notesEvery, func(now time.Time) {
		p.sweepNotes(ctx, now)
		p.kicked.sweep(now)
	})
}

// sweepNotes looks a part of the notes over. A place that has run out is in
// the lists that operators see until the line removes it, so its note is kept
// for that long.
func (p *Portal) sweepNotes(ctx context.Context, now time.Time) {
	listed := p.Concert.Config().Reaper
	for _, number := range p.notes.part() {
		switch st, err := p.Line.Look(ctx, now, line.Ticket{Number: number}); {
		case err != nil || st.Known:
		case st.Ended == line.EndedExpired:
			p.notes.runOut(number, now, listed)
		default:
			p.notes.forget(number)
		}
	}
}

// runOut forgets a note once its place was first seen to have run out longer
// than keep ago.
func (n *notes) runOut(number uint64, now time.Time, keep time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	known, there := n.byNo[number]
	switch {
	case !there:
	case known.over == 0:
		known.over = now.UnixNano()
		n.byNo[number] = known
	case now.UnixNano()-known.over > int64(keep):
		delete(n.byNo, number)
	}
}

// part is the next part to look over. What was forgotten leaves the order here.
func (n *notes) part() []uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.look < n.head || n.look >= len(n.order) {
		n.packLocked()
		n.look = 0
	}
	end := min(len(n.order), n.look+1024+(len(n.order)-n.head)/notesParts)
	part := append([]uint64(nil), n.order[n.look:end]...)
	n.look = end
	return part
}

// packLocked leaves out of the order what was forgotten.
func (n *notes) packLocked() {
	kept := n.order[:0]
	for _, number := range n.order[n.head:] {
		if _, there := n.byNo[number]; there {
			kept = append(kept, number)
		}
	}
	n.order, n.head = kept, 0
}

func (n *notes) forget(number uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.byNo, number)
}

// cut returns at most n bytes of s, as valid UTF-8.
func cut(s string, n int) string {
	if len(s) > n {
		s = s[:n]
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
