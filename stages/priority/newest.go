package priority

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
	"time"

	"github.com/andreimerlescu/concert/pipeline"
)

// The table of newest grants: rows of a few passes each, by pass id.
const (
	newestRows  = 1 << 13
	newestWidth = 8

	// Remembered is how many passes' newest grants are remembered, at most.
	// With all of them the table takes about 4 MB.
	Remembered = newestRows * newestWidth
)

// newest remembers when the newest grant of each pass was issued.
type newest struct {
	rows      [newestRows]newestRow
	forgotten atomic.Uint64 // entries dropped while a grant could still be in force
}

type newestRow struct {
	mu      sync.Mutex // guards the field below
	entries []newestEntry
}

type newestEntry struct {
	pass   [16]byte
	issued int64 // unix milliseconds of the newest grant, or of the clearing
	until  int64 // unix seconds: no grant older than this one lives longer
	marked int64 // unix seconds: until when the last Mark of it counts
	rank   pipeline.Rank
}

// Mark is what is to be remembered of a pass beyond the process: when its
// newest grant was issued, or taken away.
type Mark struct {
	Pass   [16]byte
	Rank   pipeline.Rank // guest: taken away
	Issued int64         // unix milliseconds
	Until  int64         // unix seconds: no older grant lives longer
}

// markSlack is how much longer a mark counts than the grant it is about, so
// that an application which renews a rank with every page makes no mark each
// time.
const markSlack = time.Hour

func (n *newest) row(pass *[16]byte) *newestRow {
	return &n.rows[binary.LittleEndian.Uint64(pass[:8])%newestRows]
}

// allows reports whether no newer grant than this one is known of its pass.
func (n *newest) allows(g *grant) bool {
	r := n.row(&g.pass)
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.findLocked(&g.pass)
	return e == nil || g.issued >= e.issued
}

// knows reports whether anything is remembered of the pass.
func (n *newest) knows(pass [16]byte) bool {
	r := n.row(&pass)
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.findLocked(&pass) != nil
}

// issue notes that g is now the newest grant of its pass. It gives g an issue
// time after that of every grant before it. worth says that the mark should be
// kept: the rank is another than before, or the last mark would run out before
// the grant.
func (n *newest) issue(g *grant, now int64) (m Mark, worth bool) {
	r := n.row(&g.pass)
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.findLocked(&g.pass)
	if e == nil {
		e = n.placeLocked(r, now)
		*e = newestEntry{pass: g.pass}
	}
	worth = e.issued == 0 || e.rank != g.rank || e.marked < g.expires
	g.issued = max(g.issued, e.issued+1)
	e.issued, e.rank = g.issued, g.rank
	e.until = max(e.until, g.expires)
	if worth {
		e.marked = e.until + int64(markSlack/time.Second)
	}
	return e.mark(), worth
}

func (e *newestEntry) mark() Mark {
	return Mark{Pass: e.pass, Rank: e.rank, Issued: e.issued, Until: max(e.until, e.marked)}
}

// restore takes up a mark, unless it is older than what is known.
func (n *newest) restore(m Mark, now int64) {
	if m.Until <= now {
		return
	}
	r := n.row(&m.Pass)
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.findLocked(&m.Pass)
	if e == nil {
		e = n.placeLocked(r, now)
		*e = newestEntry{pass: m.Pass}
	}
	if m.Issued >= e.issued {
		e.issued, e.rank, e.marked = m.Issued, m.Rank, m.Until
	}
	e.until = max(e.until, m.Until)
}

// Restore takes up what Marks returned, or what Config.Changed was told: later
// marks of a pass count more, in whatever order they come.
func (s *Stage) Restore(marks []Mark, now time.Time) {
	for _, m := range marks {
		s.newest.restore(m, now.Unix())
	}
}

// Marks returns what is remembered and still counts, a bit at a time: issuing
// grants goes on meanwhile.
func (s *Stage) Marks(now time.Time) []Mark {
	var marks []Mark
	for i := range s.newest.rows {
		r := &s.newest.rows[i]
		r.mu.Lock()
		for k := range r.entries {
			if m := r.entries[k].mark(); m.Until > now.Unix() {
				marks = append(marks, m)
			}
		}
		r.mu.Unlock()
	}
	return marks
}

func (r *newestRow) findLocked(pass *[16]byte) *newestEntry {
	for i := range r.entries {
		if r.entries[i].pass == *pass {
			return &r.entries[i]
		}
	}
	return nil
}

// placeLocked finds room for another pass: a new entry, that of a pass none of
// whose grants is in force any more, or that of the oldest.
func (n *newest) placeLocked(r *newestRow, now int64) *newestEntry {
	oldest := 0
	for i := range r.entries {
		e := &r.entries[i]
		if e.until <= now {
			return e
		}
		if e.issued < r.entries[oldest].issued {
			oldest = i
		}
	}
	if len(r.entries) < newestWidth {
		r.entries = append(r.entries, newestEntry{})
		return &r.entries[len(r.entries)-1]
	}
	n.forgotten.Add(1)
	return &r.entries[oldest]
}
