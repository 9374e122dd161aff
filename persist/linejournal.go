package persist

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"strconv"
	"time"

	"github.com/andreimerlescu/concert/line"
)

// queue.journal holds what changed in the line after queue.snapshot, in the
// form of all journals: the sum of the JSON, a space, the JSON, and a newline.
// The first line says which line it belongs to and after which change it
// begins; each other one is a change, numbered without gaps.

// lineJournalHead is the first line.
type lineJournalHead struct {
	Version  int    `json:"version"`
	Line     uint64 `json:"line"`
	Sequence uint64 `json:"sequence"`
}

// lineChange is any other.
type lineChange struct {
	Seq    uint64          `json:"seq"`
	Put    json.RawMessage `json:"put,omitempty"`    // a ticket as in queue.snapshot
	Before uint64          `json:"before,omitempty"` // the number behind it; none: the end
	Drop   uint64          `json:"drop,omitempty"`
	Seen   uint64          `json:"seen,omitempty"`
	At     int64           `json:"at,omitempty"` // when seen, unix milliseconds
	PollMS int64           `json:"poll_ms,omitempty"`
}

// appendChange adds a change's line to b. It is json.Marshal for a lineChange,
// some times as fast.
func appendChange(b []byte, c *line.Change) []byte {
	const sum = "00000000 "
	from := len(b)
	b = strconv.AppendUint(append(b, sum+`{"seq":`...), c.Sequence, 10)
	number := c.Ticket.Ticket.Number
	switch c.Kind {
	case line.Put:
		b = appendTicket(append(b, `,"put":`...), &c.Ticket)
		if c.Before > 0 {
			b = strconv.AppendUint(append(b, `,"before":`...), c.Before, 10)
		}
	case line.Seen:
		b = strconv.AppendUint(append(b, `,"seen":`...), number, 10)
		b = strconv.AppendInt(append(b, `,"at":`...), c.Ticket.LastSeen.UnixMilli(), 10)
		b = strconv.AppendInt(append(b, `,"poll_ms":`...), c.Ticket.PollAfter.Milliseconds(), 10)
	case line.Drop:
		b = strconv.AppendUint(append(b, `,"drop":`...), number, 10)
	}
	b = append(b, '}')
	copy(b[from:], fmt.Sprintf("%08x", crc32.Checksum(b[from+len(sum):], castagnoli())))
	return append(b, '\n')
}

// parseChange reads the JSON of a change.
func parseChange(text []byte) (line.Change, error) {
	if c, ok := scanChange(text); ok {
		return c, nil
	}
	var l lineChange
	if err := json.Unmarshal(text, &l); err != nil {
		return line.Change{}, err
	}
	c := line.Change{Sequence: l.Seq, Before: l.Before}
	switch {
	case l.Put != nil:
		c.Kind = line.Put
		var err error
		if c.Ticket, err = parseTicket(l.Put); err != nil {
			return c, err
		}
	case l.Seen != 0:
		c.Kind = line.Seen
		c.Ticket.Ticket.Number = l.Seen
		c.Ticket.LastSeen = time.UnixMilli(l.At)
		c.Ticket.PollAfter = time.Duration(max(0, min(l.PollMS, maxPollMS))) * time.Millisecond
	case l.Drop != 0:
		c.Kind = line.Drop
		c.Ticket.Ticket.Number = l.Drop
	default:
		return c, errors.New("it says nothing")
	}
	if c.Ticket.Ticket.IsZero() {
		return c, errors.New("it is about no ticket")
	}
	return c, nil
}

// scanChange reads the very form in which appendChange writes the two kinds
// that are many, several times as fast as encoding/json.
func scanChange(text []byte) (c line.Change, ok bool) {
	s := scanner{rest: text, ok: true}
	s.literal(`{"seq":`)
	c.Sequence = s.number()
	if rest, drop := bytes.CutPrefix(s.rest, []byte(`,"drop":`)); drop {
		s.rest = rest
		c.Kind = line.Drop
		c.Ticket.Ticket.Number = s.small(math.MaxUint64)
	} else {
		s.literal(`,"put":`)
		end := bytes.IndexByte(s.rest, '}') + 1 // nothing in a ticket holds one
		if !s.ok || end == 0 {
			return c, false
		}
		c.Ticket, s.ok = scanTicket(s.rest[:end])
		s.rest = s.rest[end:]
		if rest, before := bytes.CutPrefix(s.rest, []byte(`,"before":`)); before {
			s.rest = rest
			c.Before = s.small(math.MaxUint64)
		}
	}
	s.literal(`}`)
	return c, s.ok && len(s.rest) == 0 && !c.Ticket.Ticket.IsZero()
}

// writeLineJournal begins a journal with changes that are known already.
func writeLineJournal(w io.Writer, h lineJournalHead, changes []byte) error {
	head, err := appendLine(nil, h)
	if err != nil {
		return err
	}
	_, err = w.Write(append(head, changes...))
	return err
}

// errForeign is the error of a journal that goes with another snapshot.
var errForeign = errors.New("it goes with another snapshot")

// replayLine reads a journal over the snapshot that it goes with. What is torn
// at its end is dropped, and its owners bring it back. damaged says that some
// change is missing before the last good one, so that anybody may be missing
// from the result or be in it too much. The error is one that leaves the
// snapshot as it is.
func replayLine(text []byte, s line.Snapshot) (_ line.Snapshot, damaged bool, err error) {
	first, rest, ok := cutLine(text)
	var h lineJournalHead
	if !ok || json.Unmarshal(first, &h) != nil {
		return s, true, errors.New("its first line is damaged")
	}
	if err := checkVersion(h.Version, lineVersion); err != nil {
		return s, true, err
	}
	if h.Line != s.Line || h.Sequence > s.Sequence {
		return s, true, errForeign
	}
	r := line.NewReplay(s)
	last := h.Sequence
	for len(rest) > 0 {
		var one []byte
		one, rest, ok = cutLine(rest)
		if !ok {
			continue
		}
		c, err := parseChange(one)
		if err != nil || c.Sequence <= last {
			damaged = true // a right sum: not a tear
			continue
		}
		damaged = damaged || c.Sequence != last+1
		last = c.Sequence
		r.Apply(c)
	}
	return r.Snapshot(), damaged, nil
}

// followJournal brings a line that was read up to date with its journal.
func (l *LineFiles) followJournal(s *SavedLine) {
	d := l.dir
	if s.Clean || s.Line == 0 {
		return
	}
	text, ok, err := d.readFile(l.journal, maxLine)
	if err == nil && !ok {
		return // removed, or not begun: nothing is known beyond the snapshot
	}
	damaged := true
	if err == nil {
		s.Snapshot, damaged, err = replayLine(text, s.Snapshot)
	}
	s.Whole = !damaged
	if !damaged || errors.Is(err, errForeign) {
		return
	}
	path := d.file(l.journal)
	if err == nil {
		err = errors.New("lines in it are damaged and have no effect")
	}
	if d.ready() == nil {
		err = errors.Join(err, os.Rename(path, badName(path)))
	}
	d.health.log.Warn("the latest changes of the line are not all known; whoever comes back with a ticket keeps their place",
		"file", path, "kept_as", badName(l.journal), "error", err)
}
