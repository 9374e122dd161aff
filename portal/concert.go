package portal

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/andreimerlescu/concert/abuse"
	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/gate"
	"github.com/andreimerlescu/concert/history"
	"github.com/andreimerlescu/concert/ipinfo"
	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/metrics"
	"github.com/andreimerlescu/concert/persist"
	"github.com/andreimerlescu/concert/portal/view"
	"github.com/andreimerlescu/concert/rooms"
)

// Concert is the running program, as far as the portal does not reach its parts
// by itself. All methods are safe for concurrent use.
type Concert interface {
	// Config is the configuration in force.
	Config() *config.Config
	// Stats are the counters of the overview, by name: numbers, and a few texts
	// and switches. The caller owns the map.
	Stats() map[string]any
	// Refused are the refusals so far, by the code of their reason.
	Refused() map[string]uint64
	// Settings shows every setting.
	Settings() Settings
	// Edit changes settings: all of it, or nothing. The error is a *Problem.
	Edit(ctx context.Context, by persist.By, e Edit) (view.Edited, error)
	// Act runs f while no other act, of whatever origin, is under way. The error
	// is f's, or a *Problem when another process is taking over.
	Act(f func() error) error
	// SaveBans puts bans on disk that were ordered or lifted inside Act, and
	// takes them down in the audit trail.
	SaveBans(by persist.By) error
	// Audit takes down what was done.
	Audit(by persist.By, act persist.Act)
	// Ticket reads a ticket's cookie or the reference of a waiting page; false
	// when it is not authentic.
	Ticket(text string) (line.Ticket, bool)
	// Rooms are those within the site, in their order.
	Rooms() []SiteRoom
	// Leaving reports whether another process takes over. Connections should go
	// there.
	Leaving() bool
}

// Edit is a change of settings.
type Edit struct {
	What string                     // for the audit trail
	Set  map[string]json.RawMessage // by key, as in settings.json
	// Rooms, when set, makes the list of rooms of the one in force; it is part
	// of the act. Its error may wrap rooms.ErrUnknown or rooms.ErrTaken.
	Rooms func(now *rooms.Set) (json.RawMessage, error)
	Reset []string  // keys that go back to flag, variable or default
	Undo  bool      // take the last change back; Set and Reset are empty
	Of    time.Time // with Undo: when the change was made that is to be taken back; zero is whichever was last
	// Guard, when set, may refuse what the change would come to.
	Guard  func(next *config.Config) error
	DryRun bool // only say what it would come to
}

// Options are what a portal is made of. None may be missing, save for
// ViewerPass, Token, Version, Log, Left, Peers and Gate. Without Line, Abuse,
// History, Info and Requests the portal is about off-site rooms only.
type Options struct {
	Concert  Concert
	Peers    Peers // nil: the line is shared with nobody
	Line     line.Line
	Abuse    *abuse.Registry
	History  *history.History
	Info     *ipinfo.Service
	Data     *persist.Dir
	Requests *metrics.Observer
	Gate     gate.Store // off-site rooms; nil: there are none

	Pass       string // of operators
	ViewerPass string // of viewers; "": there are none
	Token      string // of the Authorization header; "": none is accepted
	Listen     string // the address that is listened on, as it was configured
	Version    string
	Log        *slog.Logger
	Left       *Left // by the portal of the process before; nil: nothing
}

// Settings is the answer of GET /api/settings.
type Settings struct {
	Settings  []Setting `json:"settings"`
	Fixed     bool      `json:"fixed"`     // they cannot be changed
	Persisted bool      `json:"persisted"` // changes outlive the process
	File      string    `json:"file,omitempty"`
	Updated   time.Time `json:"updated,omitzero"`
	Undo      bool      `json:"undo"` // there is a change to undo
	Faults    []Fault   `json:"faults"`
}

// Setting is one setting as operators' programs get it.
type Setting struct {
	Key     string          `json:"key"`
	Group   config.Group    `json:"group"`
	Label   string          `json:"label"`
	Help    string          `json:"help"`
	Kind    config.Kind     `json:"kind"`
	Want    string          `json:"want"`
	Unit    string          `json:"unit,omitempty"`
	Min     string          `json:"min,omitempty"`
	Max     string          `json:"max,omitempty"`
	Choices []string        `json:"choices,omitempty"`
	Flag    string          `json:"flag,omitempty"`
	Env     string          `json:"env"`
	Default string          `json:"default"`
	Value   json.RawMessage `json:"value"` // of secrets only whether they are set
	Source  config.Source   `json:"source"`
	Restart bool            `json:"restart"` // a change takes one
	Secret  bool            `json:"secret"`
}

// Fault is something that cannot be saved at present.
type Fault struct {
	What     string    `json:"what"`
	Since    time.Time `json:"since"`
	Failures int       `json:"failures"` // attempts in a row
	Error    string    `json:"error,omitempty"`
}

// Problem is why something was not done.
type Problem struct {
	Status int // of HTTP
	Err    error
}

// Error implements error.
func (p *Problem) Error() string { return p.Err.Error() }

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.Err }
