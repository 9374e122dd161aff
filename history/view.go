package history

import (
	"net/netip"
	"slices"
	"time"

	"github.com/andreimerlescu/concert/clientip"
)

// States of a ban, and of the client that one covers.
const (
	StatePermanent = "permanent"
	StateActive    = "active"
	StateLifted    = "lifted"
	StateExpired   = "expired"
)

// BanView is one ban as scripts and the portal see it.
type BanView struct {
	Number    uint64            `json:"ban"`
	Target    string            `json:"target"`
	Range     bool              `json:"range"`
	State     string            `json:"state"`
	Begin     time.Time         `json:"begin,omitzero"` // left out when nobody knows
	Until     time.Time         `json:"until,omitzero"` // left out when it is permanent
	Lifted    time.Time         `json:"lifted,omitzero"`
	LiftedBy  string            `json:"lifted_by,omitempty"`
	Changes   int               `json:"changes"`
	Source    string            `json:"source"`
	Trigger   *Trigger          `json:"trigger,omitempty"`
	Requests  uint64            `json:"requests"` // while it held
	Paths     map[string]uint64 `json:"paths,omitempty"`
	Others    uint64            `json:"other_paths,omitempty"`
	Addresses map[string]uint64 `json:"addresses,omitempty"`
	Beyond    uint64            `json:"other_addresses,omitempty"` // requests of clients that are not told apart
}

// EntryView is one request.
type EntryView struct {
	At        time.Time `json:"at"`
	IP        string    `json:"ip"`
	Method    string    `json:"method"`
	Path      string    `json:"path"`
	Status    int       `json:"status"`
	LatencyUS int64     `json:"latency_us"`
	UA        string    `json:"ua,omitempty"`
	Blocked   bool      `json:"blocked,omitempty"`
	Triggered bool      `json:"triggered,omitempty"`
	Ban       uint64    `json:"ban,omitempty"`
	Rank      string    `json:"rank,omitempty"`
	Room      string    `json:"room,omitempty"` // inline; "" is the default one
	Ess       *Facts    `json:"ess,omitempty"`  // in the answer of [History.Client] only
}

// ClientView is one client. Entries, UserAgents and Bans are only in the answer
// of [History.Client].
type ClientView struct {
	Client     string      `json:"client"`
	State      string      `json:"state,omitempty"` // of its latest ban; "" when there was none
	Until      time.Time   `json:"until,omitzero"`  // of StateActive
	First      time.Time   `json:"first"`
	Last       time.Time   `json:"last"`
	Requests   uint64      `json:"requests"`
	Blocked    uint64      `json:"blocked"`
	Errors     uint64      `json:"errors"` // answered with 400 or more without being blocked
	Newest     *EntryView  `json:"newest,omitempty"`
	Entries    []EntryView `json:"entries,omitempty"` // newest first
	UserAgents []string    `json:"user_agents,omitempty"`
	Bans       []BanView   `json:"bans,omitempty"` // newest first, without paths and addresses
}

// state returns the ban's state, given that now is not before its begin.
func (w *window) state(now time.Time) string {
	switch {
	case !w.lifted.IsZero():
		return StateLifted
	case w.until.IsZero():
		return StatePermanent
	case now.Before(w.until):
		return StateActive
	}
	return StateExpired
}

// view copies what does not grow.
func (w *window) view(now time.Time) BanView {
	v := BanView{
		Number: w.number, Target: w.targetText(), Range: isRange(w.target), State: w.state(now),
		Until: stamp(w.until), Lifted: stamp(w.lifted), LiftedBy: w.liftedBy,
		Changes: w.changes, Source: w.source, Trigger: w.trigger, Requests: w.requests,
	}
	if w.known {
		v.Begin = stamp(w.begin)
	}
	return v
}

// Ban returns one ban with all paths and addresses.
func (h *History) Ban(number uint64, now time.Time) (BanView, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range h.bans.all {
		if w.number != number || number == 0 {
			continue
		}
		v := w.view(now)
		v.Paths, v.Others, v.Beyond = make(map[string]uint64, len(w.paths)), w.otherPaths, w.others.requests
		for path, n := range w.paths {
			v.Paths[path] = n
		}
		v.Addresses = make(map[string]uint64, len(w.visitors))
		for key, visitor := range w.visitors {
			v.Addresses[clientip.FormatKey(key)] = visitor.requests
		}
		return v, true
	}
	return BanView{}, false
}

// Bans returns every ban, newest first, without paths and addresses.
func (h *History) Bans(now time.Time) []BanView {
	h.mu.Lock()
	defer h.mu.Unlock()
	views := make([]BanView, 0, len(h.bans.all))
	for _, w := range slices.Backward(h.bans.all) {
		views = append(views, w.view(now))
	}
	return views
}

// Client returns one client with its requests, what is known of their
// addresses, and the bans that covered it.
func (h *History) Client(key netip.Prefix, now time.Time) (ClientView, bool) {
	v, ok := h.clientView(key, now)
	for i := range v.Entries {
		e := &v.Entries[i]
		if i > 0 && e.IP == v.Entries[i-1].IP {
			e.Ess = v.Entries[i-1].Ess
		} else if a, err := netip.ParseAddr(e.IP); err == nil { // a masked one is a network
			e.Ess = factsOf(a, h.opt.Details)
		}
	}
	return v, ok
}

func (h *History) clientView(key netip.Prefix, now time.Time) (ClientView, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.clients.byKey[key]
	if c == nil {
		return ClientView{}, false
	}
	v := c.view()
	c.each(func(number uint64, e *entry) { v.Entries = append(v.Entries, c.entryView(number, e)) })
	for i := range c.agents {
		if a := &c.agents[i]; a.text != "" {
			v.UserAgents = append(v.UserAgents, a.text)
		}
	}
	for _, w := range slices.Backward(h.bans.all) {
		if w.target.Overlaps(key) && w.target.Bits() <= key.Bits() {
			v.Bans = append(v.Bans, w.view(now))
		}
	}
	for _, b := range v.Bans { // what holds counts for more than what was
		if v.State == "" || b.State == StatePermanent || b.State == StateActive && v.State != StatePermanent {
			v.State, v.Until = b.State, b.Until
		}
	}
	return v, true
}

func (c *client) view() ClientView {
	v := ClientView{
		Client: clientip.FormatKey(c.key), First: stamp(time.Unix(0, c.first)), Last: stamp(time.Unix(0, c.last)),
		Requests: c.requests, Blocked: c.blocked, Errors: c.errors,
	}
	if n := len(c.ring); n > 0 {
		newest := c.entryView(c.pushed, &c.ring[(c.next+n-1)%n])
		v.Newest = &newest
	}
	return v
}

func (c *client) entryView(number uint64, e *entry) EntryView {
	v := EntryView{
		At: stamp(time.Unix(0, e.at)), IP: addrText(c.addrOf(e)), Method: e.method, Path: e.path,
		Status: int(e.status), LatencyUS: e.latency.Microseconds(), UA: c.agentOf(number, e),
		Blocked: e.blocked, Triggered: e.triggered, Rank: e.rank, Room: e.room,
	}
	if w := e.ban.real(); w != nil {
		v.Ban = w.number
	}
	return v
}

// Stats are the history's counters.
type Stats struct {
	Clients   int    `json:"history_clients"`
	Bans      int    `json:"history_bans"`
	Evicted   uint64 `json:"history_evicted_total"`      // clients that made room
	Dropped   uint64 `json:"history_dropped_total"`      // events that did not fit the queue to the file
	Lines     uint64 `json:"history_lines_total"`        // written
	BadLines  uint64 `json:"history_bad_lines"`          // of the files as the start found them
	Rotations uint64 `json:"history_rotations_total"`    //
	Failures  uint64 `json:"history_log_failures_total"` // failed attempts to write
	File      string `json:"history_log"`                // "" is memory only
	Trouble   string `json:"history_log_error,omitempty"`
	Replaying bool   `json:"history_replaying"` // the files of earlier runs are still being read
}

// Stats reads the counters.
func (h *History) Stats() Stats {
	h.mu.Lock()
	s := Stats{
		Clients: len(h.clients.byKey), Bans: len(h.bans.all), Evicted: h.clients.evicted,
		Dropped: h.dropped.Load(), File: h.opt.File, Replaying: !h.ready,
	}
	h.mu.Unlock()
	if w := h.writer; w != nil {
		s.Lines, s.BadLines, s.Rotations, s.Failures = w.lines.Load(), w.bad.Load(), w.rotations.Load(), w.failures.Load()
		if text := w.trouble.Load(); text != nil {
			s.Trouble = *text
		}
	}
	return s
}
