package portal

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/andreimerlescu/concert/gate"
	"github.com/andreimerlescu/concert/persist"
	"github.com/andreimerlescu/concert/portal/view"
	"github.com/andreimerlescu/concert/rooms"
)

// The kinds of rooms.
const (
	kindSite = "site" // parts of the site behind Concert
	kindGate = "gate" // sites elsewhere
)

// maxRoomActs is how many acts the page of a room shows.
const maxRoomActs = 50

// keeper is rooms of one kind. Members are those of the kind's JSON form.
type keeper interface {
	list(r *request) ([]view.Room, error)
	detail(r *request, id string) (view.RoomDetail, error)
	fields() []view.RoomField // of a new room
	create(r *request, members map[string]json.RawMessage) (RoomDone, error)
	edit(r *request, id string, members map[string]json.RawMessage) (RoomDone, error)
	remove(r *request, id string) (RoomDone, error)
	act(r *request, id, action string) (RoomDone, error)
	title() view.RoomKind
}

// RoomDone answers what was done to a room.
type RoomDone struct {
	ID       string          `json:"id"`
	DryRun   bool            `json:"dry_run,omitempty"`
	Affects  []view.Affected `json:"affects"`
	Warnings []string        `json:"warnings"`
	// Undo is what /api/settings/undo takes as of to take it back; "" when that
	// is not possible.
	Undo string `json:"undo,omitempty"`
}

func done(id string) RoomDone {
	return RoomDone{ID: id, Affects: []view.Affected{}, Warnings: []string{}}
}

// keepers are those of the kinds that there are, by kind.
func (p *Portal) keepers() map[string]keeper {
	all := map[string]keeper{}
	if !p.RoomsOnly() {
		all[kindSite] = siteRooms{}
	}
	if p.Gate != nil {
		all[kindGate] = gateRooms{p.Gate}
	}
	return all
}

// kinds are the kinds there are, in their order.
var kinds = []string{kindSite, kindGate}

// RoomsOnly reports whether there is nothing but off-site rooms.
func (p *Portal) RoomsOnly() bool { return p.Line == nil }

// keeper is that of the request's kind; without one, of the only kind there is.
func (r *request) keeper() (keeper, error) {
	all := r.p.keepers()
	kind := r.query.Get("kind")
	if kind == "" && len(all) == 1 {
		for _, only := range all {
			return only, nil
		}
	}
	if k := all[kind]; k != nil {
		return k, nil
	}
	if kind == kindGate {
		return nil, noGate()
	}
	return nil, badRequest("kind is %s: want site or gate", quoted(kind))
}

// noGate refuses what is about off-site rooms where there are none.
func noGate() error {
	return problemf(http.StatusNotFound, "there are no off-site rooms here: start Concert with -gate-listen")
}

// roomError gives errors of stores and lists their status.
func roomError(err error) error {
	_, invalid := errors.AsType[*gate.InvalidError](err)
	_, known := errors.AsType[*Problem](err)
	status := 0
	switch {
	case err == nil || known:
		return err
	case invalid:
		status = http.StatusBadRequest
	case errors.Is(err, gate.ErrNoRoom), errors.Is(err, gate.ErrNoMessage), errors.Is(err, rooms.ErrUnknown):
		status = http.StatusNotFound
	case errors.Is(err, gate.ErrRoomExists), errors.Is(err, gate.ErrFull), errors.Is(err, rooms.ErrTaken):
		status = http.StatusConflict
	default:
		status = http.StatusServiceUnavailable // the store is elsewhere, and away
	}
	return &Problem{status, err}
}

// noteAct takes down in the portal's audit trail what was done to a room.
func (r *request) noteAct(what, id string) {
	r.p.Concert.Audit(r.by(), persist.Act{What: what, Note: id})
}
