package history

import (
	"net/netip"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/andreimerlescu/concert/pipeline"
)

// Bytes of what strangers send that are kept.
const (
	maxMethod = 16
	maxPath   = 256
	maxAgent  = 200
	maxRoom   = 32
)

// request is one request on its way into the table and the file.
type request struct {
	at        time.Time
	addr      netip.Addr
	key       netip.Prefix
	method    string
	path      string
	agent     string
	rank      string
	room      string // inline; "" is the default one
	latency   time.Duration
	status    int
	blocked   bool
	triggered bool
	ban       *window // the ban it ran into or started; nil: none
}

// entry is a request as a client's ring keeps it.
type entry struct {
	at        int64 // Unix nanoseconds
	latency   time.Duration
	method    string
	path      string
	rank      string
	room      string
	ban       *window
	host      uint64 // lower half of an IPv6 address
	status    uint16
	agent     uint8 // index into the client's agents
	blocked   bool
	triggered bool
}

// fill reads what a record needs from a finished visit.
func (q *request) fill(v *pipeline.Visit, query bool) {
	q.at, q.latency = v.Start, v.End().Sub(v.Start)
	q.addr, q.key = v.Client.Addr, v.Client.Key
	q.method = cutMethod(v.R.Method)
	q.path = cutPath(target(v), query)
	if agent := v.R.Header["User-Agent"]; len(agent) > 0 {
		q.agent = cutAgent(agent[0])
	}
	q.status = v.Status()
	q.room = v.Room
	if v.Rank != pipeline.Guest {
		q.rank = v.Rank.String()
	}
}

// target is what the request line asked for, without the scheme and host that
// a client of a proxy puts before it.
func target(v *pipeline.Visit) string {
	if t := v.R.RequestURI; t != "" && (t[0] == '/' || t == "*") {
		return t
	}
	return v.R.URL.RequestURI()
}

// cutPath returns the part of a request target that is kept. A short one is
// shared with the request line, of which it is the most; a long line must not
// be kept alive by a part of it.
func cutPath(t string, query bool) string {
	whole := len(t)
	if i := strings.IndexByte(t, '?'); !query && i >= 0 {
		t = t[:i]
	}
	t = valid(cut(t, maxPath), maxPath)
	if whole > len(t)+64 {
		return strings.Clone(t)
	}
	return t
}

// cutAgent returns the part of a user agent that is kept.
func cutAgent(agent string) string {
	whole := len(agent)
	agent = valid(cut(agent, maxAgent), maxAgent)
	if whole > 2*maxAgent {
		return strings.Clone(agent)
	}
	return agent
}

// valid returns s as UTF-8, so that what is counted under a text in memory and
// what the file says of it are the same.
func valid(s string, n int) string {
	if utf8.ValidString(s) {
		return s
	}
	return cut(strings.ToValidUTF8(s, "\uFFFD"), n)
}

// cutMethod returns a method that does not keep the request line alive.
func cutMethod(m string) string {
	switch m {
	case "GET":
		return "GET"
	case "POST":
		return "POST"
	case "HEAD":
		return "HEAD"
	case "PUT":
		return "PUT"
	case "DELETE":
		return "DELETE"
	case "OPTIONS":
		return "OPTIONS"
	case "PATCH":
		return "PATCH"
	}
	return strings.Clone(cut(m, maxMethod))
}

// cut returns at most n bytes of s, and no half of a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 { // within a character
		n--
	}
	return s[:n]
}
