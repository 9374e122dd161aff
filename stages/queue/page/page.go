package page

import (
	"strconv"
	"sync"
	"time"

	"github.com/andreimerlescu/concert/internal/language"
)

// Budgets of the built-in page in any language, without a logo or a message, in
// bytes. What is sent, headers included, fits the ten segments of 1460 bytes
// that a new connection may carry at once (RFC 6928).
const (
	maxBuiltIn = 40 << 10 // as rendered
	maxGzipped = 14 << 10 // as sent
)

// Values are what a page says to one visitor.
type Values struct {
	Position int // 1 is next; less is shown as 1
	Ahead    int
	// ETA is the expected wait; negative when it cannot be told.
	ETA time.Duration
	// PollAfter is when the page should ask again, above 0.
	PollAfter time.Duration
	// Joined is when the visitor came, to the millisecond.
	Joined time.Time
	// Back is the address, from its path on, to come back to once it is known
	// that the browser keeps cookies. Without JavaScript the page's first
	// renewal goes through paths.QueueReturn to find out; empty: no need.
	Back string
	// Room is the id of an off-site room and RoomName its name; Back is the
	// address on its site then, from the path on.
	Room, RoomName string
	// SkipURL is where the visitor can pay to go to the front; empty: nowhere.
	SkipURL string
}

// Set is a page in every language.
type Set [language.Count]*Page

// In returns the page in a language.
func (s *Set) In(l language.Language) *Page { return s[l] }

// Page is a prepared page in one language: fixed pieces with a visitor's figure
// after each but the last.
type Page struct {
	pieces  []piece
	policy  string
	lang    string
	phrases *phrases
	// deflated are the pieces as AppendGzip sends them, made for the first who
	// accepts that.
	deflated func() []deflated
}

func newPage(text string, table map[string]figure) *Page {
	p := &Page{pieces: split(text, table)}
	p.deflated = sync.OnceValue(p.deflate)
	return p
}

// piece is fixed text and the figure that follows it.
type piece struct {
	text   []byte
	figure figure
}

// figure names one of a visitor's values in one form.
type figure uint8

const (
	none       figure = iota
	position          // at least 1
	people            // who is ahead, in words
	etaSeconds        // whole seconds, rounded up; -1 when it cannot be told
	estimate          // the wait in words
	pollMS
	refresh // when to renew the page, and where
	joinedMS
	back // Values.Back as an attribute's value
	skipURL
	plainSkipURL // the same, not escaped
	roomID
	roomName
)

// Policy is the Content-Security-Policy the page must be sent with; empty for
// a custom page, whose author knows what it loads.
func (p *Page) Policy() string { return p.policy }

// Language is the Content-Language of the page; empty when not known.
func (p *Page) Language() string { return p.lang }

// Append renders the page for one visitor.
func (p *Page) Append(dst []byte, v Values) []byte {
	for i := range p.pieces {
		dst = append(dst, p.pieces[i].text...)
		dst = p.appendFigure(dst, p.pieces[i].figure, v)
	}
	return dst
}

func (p *Page) appendFigure(dst []byte, f figure, v Values) []byte {
	switch f {
	case position:
		return strconv.AppendInt(dst, int64(max(v.Position, 1)), 10)
	case people:
		return p.phrases.appendAhead(dst, int64(v.Ahead))
	case etaSeconds:
		return strconv.AppendInt(dst, Seconds(v.ETA), 10)
	case estimate:
		return p.phrases.appendEstimate(dst, Seconds(v.ETA))
	case pollMS:
		return strconv.AppendInt(dst, v.PollAfter.Milliseconds(), 10)
	case refresh:
		return appendRefresh(dst, v)
	case joinedMS:
		return strconv.AppendInt(dst, v.Joined.UnixMilli(), 10)
	case back:
		return appendEscaped(dst, v.Back)
	case roomID:
		return appendEscaped(dst, v.Room)
	case roomName:
		return appendEscaped(dst, v.RoomName)
	case skipURL:
		return appendEscaped(dst, v.SkipURL)
	case plainSkipURL:
		return append(dst, v.SkipURL...)
	}
	return dst
}

// Seconds rounds d up to whole seconds; a negative d, a wait that cannot be
// told, is -1.
func Seconds(d time.Duration) int64 {
	if d < 0 {
		return -1
	}
	return int64((d + time.Second - 1) / time.Second)
}
