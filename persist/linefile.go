package persist

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/andreimerlescu/concert/line"
)

const (
	lineVersion = 1
	maxLine     = 1 << 30 // bytes
)

// SavedLine is a saved waiting line.
type SavedLine struct {
	line.Snapshot
	// Clean says that the line rested when it was saved and no ticket can be
	// missing. Otherwise it goes on after the last save, until a crash.
	Clean bool
}

// lineHead is the first line of the file; it opens the array of tickets.
type lineHead struct {
	Version  int       `json:"version"`
	Exported time.Time `json:"exported_at"`
	Clean    bool      `json:"clean"`
	Next     uint64    `json:"next"`
	Count    int       `json:"count"`
	// Line and Sequence say which lines of the journal come after it.
	Line     uint64 `json:"line,omitempty"`
	Sequence uint64 `json:"sequence,omitempty"`
	// Lost are pairs of numbers: what lies between may exist.
	Lost [][2]uint64 `json:"lost,omitempty"`
}

// lineTicket is one ticket; each stands on a line of its own.
type lineTicket struct {
	Number   uint64    `json:"number"`
	Created  time.Time `json:"created_at"`
	LastSeen time.Time `json:"last_seen"`
	Client   string    `json:"client_key,omitempty"`
	Polled   bool      `json:"polled"`
	Promoted bool      `json:"promoted"`
	Absent   bool      `json:"absent,omitempty"`
	AtDoor   bool      `json:"door,omitempty"`
	PollMS   int64     `json:"poll_ms,omitempty"`
	Rank     uint8     `json:"rank,omitempty"`
}

const (
	lineTime    = "2006-01-02T15:04:05.000Z"
	ticketsOpen = ",\"tickets\":[\n"
	ticketsEnd  = "]"
)

// WriteLine writes the form on disk: one JSON document, a ticket a line, with
// the sum of all that stands before the sum. A successor can be given it as
// well.
func WriteLine(w io.Writer, s SavedLine) error {
	sum := newSummer(w)
	h := lineHead{lineVersion, s.Taken.UTC(), s.Clean, s.Next, len(s.Tickets), s.Line, s.Sequence, nil}
	for _, l := range s.Lost {
		h.Lost = append(h.Lost, [2]uint64{l.From, l.To})
	}
	head, err := json.Marshal(h)
	if err != nil {
		return err
	}
	head = append(head[:len(head)-1], ticketsOpen...)
	sum.Write(head)
	var b []byte
	for i := range s.Tickets {
		b = appendTicket(b[:0], &s.Tickets[i])
		if i < len(s.Tickets)-1 {
			b = append(b, ',')
		}
		b = append(b, '\n')
		sum.Write(b)
	}
	io.WriteString(sum, ticketsEnd)
	return sum.finish()
}

// appendTicket is json.Marshal for a lineTicket, some times as fast: a line of
// a hundred thousand is saved every few seconds.
func appendTicket(b []byte, t *line.SavedTicket) []byte {
	b = append(b, `{"number":`...)
	b = strconv.AppendUint(b, t.Ticket.Number, 10)
	b = append(b, `,"created_at":"`...)
	b = t.Ticket.Issued.UTC().AppendFormat(b, lineTime)
	b = append(b, `","last_seen":"`...)
	b = t.LastSeen.UTC().AppendFormat(b, lineTime)
	if t.Client.IsValid() {
		b = append(b, `","client_key":"`...)
		if t.Client.IsSingleIP() {
			b = t.Client.Addr().AppendTo(b)
		} else {
			b = t.Client.AppendTo(b)
		}
	}
	b = append(b, `","polled":`...)
	b = strconv.AppendBool(b, t.Polled)
	b = append(b, `,"promoted":`...)
	b = strconv.AppendBool(b, t.Promoted)
	if t.Absent {
		b = append(b, `,"absent":true`...)
	}
	if t.AtDoor {
		b = append(b, `,"door":true`...)
	}
	if ms := t.PollAfter.Milliseconds(); ms > 0 {
		b = strconv.AppendInt(append(b, `,"poll_ms":`...), ms, 10)
	}
	if t.Rank > 0 {
		b = strconv.AppendUint(append(b, `,"rank":`...), uint64(t.Rank), 10)
	}
	return append(b, '}')
}

// ReadLine reads what WriteLine wrote, all of it or nothing.
func ReadLine(text []byte) (SavedLine, error) {
	switch {
	case len(text) == 0:
		return SavedLine{}, errors.New("it is empty")
	case !summed(text):
		return SavedLine{}, errors.New("it is torn or damaged: its sum is wrong")
	}
	first, rest, ok := bytes.Cut(text, []byte(ticketsOpen))
	if !ok {
		return SavedLine{}, errors.New(`it has no "tickets"`)
	}
	var head lineHead
	if err := json.Unmarshal(append(bytes.Clone(first), '}'), &head); err != nil {
		return SavedLine{}, err
	}
	if err := checkVersion(head.Version, lineVersion); err != nil {
		return SavedLine{}, err
	}
	tickets, err := readTickets(rest, head.Count)
	if err != nil {
		return SavedLine{}, err
	}
	return head.line(tickets), nil
}

// line is the saved line that begins with a head.
func (head *lineHead) line(tickets []line.SavedTicket) (s SavedLine) {
	s.Taken, s.Next, s.Clean = head.Exported, head.Next, head.Clean
	s.Line, s.Sequence = head.Line, head.Sequence
	for _, l := range head.Lost {
		s.Lost = append(s.Lost, line.Span{From: l[0], To: l[1]})
	}
	s.Tickets = tickets
	return s
}

// readTickets reads the lines of so many tickets, up to their end.
func readTickets(rest []byte, count int) ([]line.SavedTicket, error) {
	tickets := make([]line.SavedTicket, 0, min(max(0, count), len(rest)/64))
	for {
		one, more, ok := bytes.Cut(rest, []byte("\n"))
		if !ok || bytes.HasPrefix(one, []byte(ticketsEnd)) {
			break
		}
		t, err := parseTicket(bytes.TrimSuffix(one, []byte(",")))
		if err != nil {
			return nil, fmt.Errorf("ticket %d: %w", len(tickets)+1, err)
		}
		tickets, rest = append(tickets, t), more
	}
	if len(tickets) != count {
		return nil, fmt.Errorf("it has %d tickets, not %d", len(tickets), count)
	}
	return tickets, nil
}

// SaveLine writes the snapshot.
func (l *LineFiles) SaveLine(s SavedLine) error {
	return l.dir.replace(l.snapshot, func(w io.Writer) error { return WriteLine(w, s) })
}
