package rooms

import (
	"strings"
	"time"

	"github.com/andreimerlescu/concert/hosts"
	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/paths"
)

// Max is the most rooms there may be, beside the default one.
const Max = 64

// Room is one inline room.
type Room struct {
	ID    string // lower-case letters, digits and hyphens, at most 32
	Name  string // for visitors; "" shows the brand of the site
	Hosts []string
	Paths []string

	Cap      int           // most page requests at the origin at once, ≥ 1
	Inflow   int           // admissions per Interval; 0: no rate
	Interval time.Duration // 100ms to 1h
	Burst    int           // 0: as Inflow
	MaxQueue int           // most who wait; 0: no limit, [Inherit]: as in the default room
	Mode     line.Mode

	Message string // as notice.Parse takes it
	Warning bool   // how grave the message is
	HTML    string // page to show instead of the built-in one, in -pages-dir; ""
	Page    []byte // its content, read by whoever loads the configuration

	hosts *hosts.Set
	paths *paths.Table[bool] // nil: every path
}

// Inherit as Room.MaxQueue stands for the limit of the default room.
const Inherit = -1

// Title is what operators call the room: its name, or the id.
func (r *Room) Title() string {
	if r.Name != "" {
		return r.Name
	}
	return r.ID
}

// Where says which requests are the room's, for operators.
func (r *Room) Where() string {
	switch {
	case len(r.Paths) == 0:
		return strings.Join(r.Hosts, ", ")
	case len(r.Hosts) == 0:
		return strings.Join(r.Paths, ", ")
	}
	return strings.Join(r.Hosts, ", ") + " at " + strings.Join(r.Paths, ", ")
}

// OnHost reports whether the room has anything to do with a host name.
func (r *Room) OnHost(host string) bool { return r.hosts.Empty() || r.hosts.Has(host) }

// has reports whether a request is the room's.
func (r *Room) has(host string, p paths.Path) bool {
	if !r.OnHost(host) {
		return false
	}
	if r.paths == nil {
		return true
	}
	_, listed := r.paths.Lookup(p)
	return listed
}

// Set is a list of rooms. Nil is an empty one.
type Set struct{ rooms []Room }

// Empty reports whether there are none.
func (s *Set) Empty() bool { return s == nil || len(s.rooms) == 0 }

// All returns the rooms in their order, not to be changed once in use.
func (s *Set) All() []Room {
	if s == nil {
		return nil
	}
	return s.rooms
}

// Get returns the room with an id; nil when there is none.
func (s *Set) Get(id string) *Room {
	if s == nil {
		return nil
	}
	for i := range s.rooms {
		if s.rooms[i].ID == id {
			return &s.rooms[i]
		}
	}
	return nil
}

// Find returns the id of the room that a request belongs to, by what its Host
// field holds and its path; "" for the default room.
func (s *Set) Find(host string, p paths.Path) string {
	if s == nil {
		return ""
	}
	for i := range s.rooms {
		if s.rooms[i].has(host, p) {
			return s.rooms[i].ID
		}
	}
	return ""
}

// Caps is how many page requests all rooms together may have at the origin.
func (s *Set) Caps() int {
	sum := 0
	for i := range s.All() {
		sum += s.rooms[i].Cap
	}
	return sum
}
