package gate

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Room is what an operator decides about a room. The JSON names are those of
// the operator API.
type Room struct {
	// ID names the room in addresses: 1 to 64 of a-z, 0-9, "-" and "_",
	// beginning with a letter or a digit. It never changes.
	ID string `json:"id"`
	// Name is for people, at most 100 characters; empty shows the ID.
	Name string `json:"name"`
	// Inflow visitors are let in per IntervalSec seconds: 1 to 1,000,000 per
	// 1 to 86,400.
	Inflow      int `json:"inflow"`
	IntervalSec int `json:"interval_sec"`
	// Burst is the most that may come at once after a quiet time, up to
	// 1,000,000; 0 means Inflow.
	Burst int `json:"burst"`
	// Cap is the most visitors on the site at once, up to 10,000,000, each
	// counted until the access token ends; 0 sets no limit.
	Cap int `json:"cap"`
	// Enabled is false for a closed room: nobody is let in and no tickets are
	// given.
	Enabled bool `json:"enabled"`
	// QueueTTLSec is how long a ticket lives after its owner was last seen, 60
	// to 604,800 seconds.
	QueueTTLSec int `json:"queue_ttl_sec"`
	// AccessTTLSec is how long an access token lives, 10 to 86,400 seconds.
	AccessTTLSec int `json:"access_ttl_sec"`
	// Audience is what access tokens are for, 1 to 200 characters without
	// spaces; not [QueueAudience]. Empty on creation means the ID.
	Audience string `json:"audience"`
	// TargetURL is the protected site: an http or https URL, to whose origin
	// alone visitors are sent back. Without one the room has no waiting page.
	TargetURL string `json:"target_url"`
}

// QueueAudience is the audience of queue tokens; no room may have it, so that
// no site takes a queue token for an access token.
const QueueAudience = "concert:queue"

// MaxRooms is the most rooms a store has.
const MaxRooms = 1000

// DefaultRoom is a room in which only the ID is to be filled in.
func DefaultRoom() Room {
	return Room{Inflow: 50, IntervalSec: 10, Enabled: true, QueueTTLSec: 3600, AccessTTLSec: 900}
}

// Interval is IntervalSec as a duration.
func (r *Room) Interval() time.Duration { return time.Duration(r.IntervalSec) * time.Second }

// QueueTTL is QueueTTLSec as a duration.
func (r *Room) QueueTTL() time.Duration { return time.Duration(r.QueueTTLSec) * time.Second }

// AccessTTL is AccessTTLSec as a duration.
func (r *Room) AccessTTL() time.Duration { return time.Duration(r.AccessTTLSec) * time.Second }

// MostAtOnce is Burst, or Inflow where that is 0.
func (r *Room) MostAtOnce() int {
	if r.Burst > 0 {
		return r.Burst
	}
	return r.Inflow
}

// InvalidError tells all that is wrong with what an operator sent.
type InvalidError struct{ Problems []string }

// Error joins the problems.
func (e *InvalidError) Error() string { return strings.Join(e.Problems, "; ") }

// Check reports everything that is wrong with r as an *InvalidError.
func (r *Room) Check() error {
	var p problems
	if !validID(r.ID) {
		p.add(`id %q: want 1 to 64 of a-z, 0-9, "-" and "_", beginning with a letter or a digit`, r.ID)
	}
	p.text("name", r.Name, 100)
	p.between("inflow", r.Inflow, 1, 1_000_000)
	p.between("interval_sec", r.IntervalSec, 1, 86_400)
	p.between("burst", r.Burst, 0, 1_000_000)
	p.between("cap", r.Cap, 0, 10_000_000)
	p.between("queue_ttl_sec", r.QueueTTLSec, 60, 604_800)
	p.between("access_ttl_sec", r.AccessTTLSec, 10, 86_400)
	switch {
	case r.Audience == "" || strings.ContainsFunc(r.Audience, unicode.IsSpace):
		p.add("audience %q: want text without spaces", r.Audience)
	case r.Audience == QueueAudience:
		p.add("audience %q: is that of queue tokens; choose another", r.Audience)
	}
	p.text("audience", r.Audience, 200)
	if _, err := r.Target(); err != nil {
		p.add("target_url %q: %v", r.TargetURL, err)
	}
	return p.err()
}

// Complete fills in what a new room may leave out.
func (r Room) Complete() Room {
	if r.Audience == "" {
		r.Audience = r.ID
	}
	return r
}

// State is what visitors find, with the room paused by operators or not.
func (r *Room) State(paused bool) State {
	switch {
	case !r.Enabled:
		return Closed
	case paused:
		return Paused
	}
	return Open
}

// Target parses TargetURL; nil when there is none.
func (r *Room) Target() (*url.URL, error) {
	if r.TargetURL == "" {
		return nil, nil
	}
	u, err := url.Parse(r.TargetURL)
	switch {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || u.Opaque != "":
		return nil, errors.New("want an http or https URL with a host")
	case u.User != nil:
		return nil, errors.New("leave out user and password, which every visitor would see")
	case u.Fragment != "":
		return nil, errors.New("leave out the part after #")
	}
	return u, nil
}

func validID(id string) bool {
	if len(id) < 1 || len(id) > 64 || id[0] == '-' || id[0] == '_' {
		return false
	}
	return strings.IndexFunc(id, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_'
	}) < 0
}

// problems collects what is wrong.
type problems []string

func (p *problems) add(format string, args ...any) { *p = append(*p, fmt.Sprintf(format, args...)) }

func (p *problems) between(name string, n, lo, hi int) {
	if n < lo || n > hi {
		p.add("%s %d: want %d to %d", name, n, lo, hi)
	}
}

func (p *problems) text(name, s string, most int) {
	if n := utf8.RuneCountInString(s); n > most {
		p.add("%s: %d characters, want at most %d", name, n, most)
	}
	if !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) {
		p.add("%s: holds a line break or another control character, or is not in UTF-8", name)
	}
}

func (p problems) err() error {
	if len(p) == 0 {
		return nil
	}
	return &InvalidError{p}
}
