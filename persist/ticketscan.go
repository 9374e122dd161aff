package persist

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"strconv"
	"time"

	"github.com/andreimerlescu/concert/line"
)

// maxPollMS bounds a poll delay: a day, in milliseconds.
const maxPollMS = 24 * 60 * 60 * 1000

// parseTicket reads a line of the file. Lines as appendTicket writes them are
// taken apart by hand, which is several times as fast as encoding/json and
// lets a line of a hundred thousand stand again in a blink; whatever else is
// JSON is read as such.
func parseTicket(text []byte) (line.SavedTicket, error) {
	if t, ok := scanTicket(text); ok {
		return t, nil
	}
	var t lineTicket
	if err := json.Unmarshal(text, &t); err != nil {
		return line.SavedTicket{}, err
	}
	saved := line.SavedTicket{
		Ticket:   line.Ticket{Number: t.Number, Issued: t.Created},
		LastSeen: t.LastSeen, Polled: t.Polled, Promoted: t.Promoted, Rank: t.Rank, Absent: t.Absent,
		AtDoor: t.AtDoor, PollAfter: time.Duration(max(0, min(t.PollMS, maxPollMS))) * time.Millisecond,
	}
	if t.Client == "" {
		return saved, nil
	}
	var err error
	saved.Client, err = parseClient(t.Client)
	return saved, err
}

// scanTicket reads the very form of appendTicket.
func scanTicket(text []byte) (t line.SavedTicket, ok bool) {
	s := scanner{rest: text, ok: true}
	s.literal(`{"number":`)
	t.Ticket.Number = s.number()
	s.literal(`,"created_at":"`)
	t.Ticket.Issued = s.time()
	s.literal(`","last_seen":"`)
	t.LastSeen = s.time()
	if bytes.HasPrefix(s.rest, []byte(`","client_key":"`)) {
		s.literal(`","client_key":"`)
		t.Client = s.client()
	}
	s.literal(`","polled":`)
	t.Polled = s.boolean()
	s.literal(`,"promoted":`)
	t.Promoted = s.boolean()
	if bytes.HasPrefix(s.rest, []byte(`,"absent":`)) {
		s.literal(`,"absent":true`)
		t.Absent = true
	}
	if bytes.HasPrefix(s.rest, []byte(`,"door":`)) {
		s.literal(`,"door":true`)
		t.AtDoor = true
	}
	if bytes.HasPrefix(s.rest, []byte(`,"poll_ms":`)) {
		s.literal(`,"poll_ms":`)
		t.PollAfter = time.Duration(s.small(maxPollMS)) * time.Millisecond
	}
	if bytes.HasPrefix(s.rest, []byte(`,"rank":`)) {
		s.literal(`,"rank":`)
		t.Rank = uint8(s.small(255))
	}
	s.literal(`}`)
	return t, s.ok && len(s.rest) == 0
}

// scanner takes text apart from the front; ok turns false for good at the
// first thing that is not as expected.
type scanner struct {
	rest []byte
	ok   bool
}

func (s *scanner) literal(want string) {
	rest, found := bytes.CutPrefix(s.rest, []byte(want))
	s.rest, s.ok = rest, s.ok && found
}

// until returns what stands before the byte, which stays.
func (s *scanner) until(end byte) []byte {
	i := bytes.IndexByte(s.rest, end)
	if i < 0 {
		s.ok = false
		return nil
	}
	text := s.rest[:i]
	s.rest = s.rest[i:]
	return text
}

func (s *scanner) number() uint64 {
	text := s.until(',')
	n, err := strconv.ParseUint(string(text), 10, 64)
	s.ok = s.ok && err == nil && text[0] != '+' && (text[0] != '0' || len(text) == 1)
	return n
}

// small reads a number of at most most that is left out when it is zero.
func (s *scanner) small(most uint64) uint64 {
	n := bytes.IndexFunc(s.rest, func(r rune) bool { return r < '0' || r > '9' })
	if n < 1 || s.rest[0] == '0' {
		s.ok = false
		return 0
	}
	v, err := strconv.ParseUint(string(s.rest[:n]), 10, 64)
	s.ok = s.ok && err == nil && v <= most
	s.rest = s.rest[n:]
	return v
}

func (s *scanner) time() time.Time {
	text := s.until('"')
	t, err := time.Parse(time.RFC3339, string(text))
	s.ok = s.ok && err == nil && len(text) == len(lineTime)
	return t
}

func (s *scanner) client() netip.Prefix {
	text := s.until('"')
	p, err := parseClient(string(text))
	s.ok = s.ok && err == nil
	return p
}

func (s *scanner) boolean() bool {
	if rest, ok := bytes.CutPrefix(s.rest, []byte("true")); ok {
		s.rest = rest
		return true
	}
	s.literal("false")
	return false
}
