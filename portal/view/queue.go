package view

import (
	"io"
	"net/netip"
	"time"

	"github.com/andreimerlescu/concert/ipinfo"
)

// QueuePage is one page of the line.
type QueuePage struct {
	Paging
	Rows []QueueRow
}

// QueueRow is one visitor in line.
type QueueRow struct {
	ID        string // 16 hexadecimal digits; the row's key
	Client    netip.Prefix
	Owner     *ipinfo.Details // nil when not known
	UserAgent string
	Path      string    // of the request that joined the line
	Joined    time.Time // when the place was given
	LastSeen  time.Time // zero: not since then
	Position  int       // 1 is next
	Ready     bool      // told to come
	AtDoor    bool      // a request of theirs is held until a slot is free
	Absent    bool      // not seen for longer than agreed; the place is kept
	HasPass   bool      // paid to skip the line
	Promoted  bool      // moved up by an operator or a payment
	Rank      string    // "" or guest for none
	ETA       time.Duration
}

func (p QueuePage) bar() bar {
	return bar{Path: "/queue", What: "the line", Hint: "Filter by address, path, browser", Paging: p.Paging, Summary: queueSummary(p)}
}

func queueSummary(p QueuePage) string {
	if p.Total == 0 && p.Query == "" {
		return "Nobody is waiting"
	}
	return matching(p.Paging, "visitor in line", "visitors in line")
}

// RenderQueue writes a page of the line.
func RenderQueue(w io.Writer, f Frame, p QueuePage) error { return render(w, TabQueue, f, p) }

// QueueFragment renders the rows of a page of the line.
func QueueFragment(f Frame, p QueuePage) (Fragment, error) {
	return table("queue-rows", f, p, p.Paging, queueSummary(p))
}

// FoundPage answers the search for one visitor: by address, ticket or the
// reference on their waiting page.
type FoundPage struct {
	Asked   string
	Rows    []FoundRow
	Problem string // why nothing could be looked for; "" otherwise
	// Ended says what became of a ticket that is no longer in line: admitted,
	// expired or removed; "" when nothing is known.
	Ended string
	// Bans are those that hold for what was asked for.
	Bans     []BanRow
	Searched int // places that were looked at when not all were; 0 otherwise
}

// FoundRow is a visitor with what explains their wait.
type FoundRow struct {
	QueueRow
	Page int // of the queue's table at 25 rows
}

func foundSummary(p FoundPage) string {
	switch {
	case p.Problem != "":
		return p.Problem
	case len(p.Rows) == 0:
		return "Nobody in line is " + p.Asked
	}
	return counted(len(p.Rows), "visitor found", "visitors found")
}

// FindFragment renders the answer to a search for one visitor.
func FindFragment(f Frame, p FoundPage) (Fragment, error) {
	return table("found", f, p, NewPaging(len(p.Rows), 1, len(p.Rows)), foundSummary(p))
}
