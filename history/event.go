package history

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"time"
	"unicode/utf8"

	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/ipinfo"
)

// The kinds of events in the file.
const (
	kindRequest   = "req"  // one request
	kindAggregate = "agg"  // what a banned client asked for beyond its single lines
	kindBan       = "ban"  // a ban began or changed: its full state, the latest line counts
	kindLift      = "lift" // a ban was lifted
	kindTrigger   = "trig" // the request that started a ban
)

// event is one line. Empty fields are left out; times are UTC.
type event struct {
	T          string            `json:"t"`
	At         time.Time         `json:"at"`
	First      time.Time         `json:"first,omitzero"`
	IP         string            `json:"ip,omitempty"` // a network once it was masked
	Method     string            `json:"method,omitempty"`
	Path       string            `json:"path,omitempty"`
	Status     int               `json:"status,omitempty"`
	LatencyUS  int64             `json:"latency_us,omitempty"`
	UA         string            `json:"ua,omitempty"`
	Blocked    bool              `json:"blocked,omitempty"`
	Triggered  bool              `json:"triggered,omitempty"`
	Ban        uint64            `json:"ban,omitempty"` // the ban's number
	Rank       string            `json:"rank,omitempty"`
	Room       string            `json:"room,omitempty"` // left out for the default one
	Count      uint64            `json:"count,omitempty"`
	Paths      map[string]uint64 `json:"paths,omitempty"`
	OtherPaths uint64            `json:"other_paths,omitempty"`
	Target     string            `json:"target,omitempty"` // as operators write it
	Scope      string            `json:"scope,omitempty"`  // the same as a network
	Range      bool              `json:"range,omitempty"`  // it is more than one client
	Begin      time.Time         `json:"begin,omitzero"`   // left out when nobody knows
	Until      time.Time         `json:"until,omitzero"`
	Permanent  bool              `json:"permanent,omitempty"`
	Changes    int               `json:"changes,omitempty"`
	Source     string            `json:"source,omitempty"`
	Requests   uint64            `json:"requests,omitempty"` // all that earlier lines say of the ban
	By         string            `json:"by,omitempty"`
	Trigger    *Trigger          `json:"trigger,omitempty"`
	Ess        *Facts            `json:"ess,omitempty"`
}

// Facts are what the IP database says of an address.
type Facts struct {
	CC      string `json:"cc,omitempty"` // ISO 3166 code of the country
	Country string `json:"country,omitempty"`
	N       uint32 `json:"n,omitempty"` // autonomous system number
	ASN     string `json:"asn,omitempty"`
	Desc    string `json:"desc,omitempty"`
	Range   string `json:"range,omitempty"`
	IP8     string `json:"ip8,omitempty"` // the IPv8 form
}

// Trigger is the request that started a ban.
type Trigger struct {
	Client string    `json:"client"`
	Method string    `json:"method"`
	Path   string    `json:"path"`
	Status int       `json:"status"`
	At     time.Time `json:"at"`
}

// stamp is a time as the file has it.
func stamp(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Millisecond)
}

// addrText is an address as the file has it, "" for none.
func addrText(a netip.Addr) string {
	if !a.IsValid() {
		return ""
	}
	return a.String()
}

func requestEvent(q *request, details ipinfo.Source) event {
	e := event{
		T: kindRequest, At: stamp(q.at), IP: addrText(q.addr), Method: q.method, Path: q.path, Status: q.status,
		LatencyUS: q.latency.Microseconds(), UA: q.agent, Blocked: q.blocked, Triggered: q.triggered, Rank: q.rank, Room: q.room,
		Ess: factsOf(q.addr, details),
	}
	if w := q.ban.real(); w != nil {
		e.Ban = w.number
	}
	return e
}

func factsOf(a netip.Addr, details ipinfo.Source) *Facts {
	if details == nil {
		return nil
	}
	d, ok := details.Lookup(a)
	if !ok {
		return nil
	}
	return &Facts{
		CC: d.Code, Country: d.Country(), N: d.ASN, ASN: d.ASNText(), Desc: d.Description,
		Range: d.Range(), IP8: d.IPv8(),
	}
}

func floodEvent(f *flood, number uint64) event {
	return event{
		T: kindAggregate, At: stamp(f.last), First: stamp(f.first), IP: addrText(f.addr), Ban: number,
		Count: f.count, Paths: f.paths, OtherPaths: f.otherPaths,
	}
}

// banEvents are the lines that say all of a ban but its requests.
func banEvents(w *window, now time.Time) []event {
	at := stamp(now)
	b := event{
		T: kindBan, At: at, Ban: w.number, Target: w.targetText(), Scope: w.target.String(), Range: isRange(w.target),
		Until: stamp(w.until), Permanent: w.until.IsZero(), Changes: w.changes, Source: w.source,
	}
	if w.known {
		b.Begin = stamp(w.begin)
	}
	events := []event{b}
	if w.trigger != nil {
		events = append(events, event{T: kindTrigger, At: at, Ban: w.number, Trigger: w.trigger})
	}
	if !w.lifted.IsZero() {
		events = append(events, event{T: kindLift, At: stamp(w.lifted), Ban: w.number, By: w.liftedBy})
	}
	return events
}

// isRange reports whether a target is more than one client.
func isRange(p netip.Prefix) bool { return p != clientip.KeyOf(p.Addr()) }

// appendEvent appends an event as one line. It holds no control character and
// no invalid UTF-8, whatever the event does.
func appendEvent(line []byte, e *event) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false) // operators search for what was asked
	if err := enc.Encode(e); err != nil {
		panic("BUG: history: an event is not JSON: " + err.Error())
	}
	return appendEscaped(line, out.Bytes())
}

// appendEscaped appends JSON with the control characters escaped that JSON may
// have as they are, because terminals obey them: DEL and U+0080 to U+009F. Such
// stand only in strings.
func appendEscaped(line, text []byte) []byte {
	const hex = "0123456789abcdef"
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if 0x7f <= r && r <= 0x9f {
			line = append(line, `\u00`...)
			line = append(line, hex[r>>4], hex[r&0xf])
		} else {
			line = append(line, text[:size]...)
		}
		text = text[size:]
	}
	return line
}
