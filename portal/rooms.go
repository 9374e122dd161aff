package portal

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

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

// Rooms is the answer of GET /api/rooms.
type Rooms struct {
	Rooms  []view.Room     `json:"rooms"`
	Totals view.RoomTotals `json:"totals"`
}

// RoomAction is the body of POST /api/rooms/actions.
type RoomAction struct {
	Action string `json:"action"` // pause, resume, open or reset
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
		return nil, problemf(http.StatusNotFound, "there are no off-site rooms here: start Concert with -gate-listen")
	}
	return nil, badRequest("kind is %s: want site or gate", quoted(kind))
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

// firstPage is the overview; where there is nothing but off-site rooms, it is
// that of these.
func firstPage(r *request) error {
	if r.p.RoomsOnly() && r.role != noRole {
		return r.seeOther("/rooms")
	}
	return tab(overviewPage, view.RenderOverview)(r)
}

// roomsPage is the overview of all rooms.
func roomsPage(r *request) (view.RoomsPage, error) {
	page := view.RoomsPage{}
	all := r.p.keepers()
	for _, kind := range kinds {
		k := all[kind]
		if k == nil {
			continue
		}
		list, err := k.list(r)
		if err != nil {
			return page, roomError(err)
		}
		page.Rooms = append(page.Rooms, list...)
		page.Kinds = append(page.Kinds, k.title())
	}
	page.Totals = totals(page.Rooms)
	return page, nil
}

func totals(all []view.Room) view.RoomTotals {
	t := view.RoomTotals{Rooms: len(all)}
	for _, r := range all {
		if r.State == string(gate.Open) {
			t.Open++
		}
		t.Waiting += r.Waiting
		t.Inside += r.Inside
		t.Passed += r.Passed
	}
	return t
}

// roomPage is one room.
func roomPage(r *request) (view.RoomDetail, error) {
	k, err := r.keeper()
	if err != nil {
		return view.RoomDetail{}, err
	}
	d, err := k.detail(r, r.query.Get("id"))
	if err != nil {
		return d, roomError(err)
	}
	d.Observed = observed(d.PerMinute)
	return d, nil
}

// observed is how many pass per minute, by the last five whole minutes.
func observed(all []view.RoomMinute) float64 {
	const few = 5
	if len(all) < 2 {
		return 0
	}
	whole := all[max(0, len(all)-1-few) : len(all)-1]
	sum := uint64(0)
	for _, m := range whole {
		sum += m.Passed
	}
	return float64(sum) / float64(len(whole))
}

// newRoomPage is the form of a new room.
func newRoomPage(r *request) (view.NewRoomPage, error) {
	k, err := r.keeper()
	if err != nil {
		return view.NewRoomPage{}, err
	}
	return view.NewRoomPage{RoomKind: k.title(), Fields: k.fields()}, nil
}

// apiRooms lists all rooms.
func apiRooms(r *request) (any, error) {
	page, err := roomsPage(r)
	return Rooms{append([]view.Room{}, page.Rooms...), page.Totals}, err
}

// apiOneRoom is everything about a room.
func apiOneRoom(r *request) (any, error) { return anyOf(roomPage(r)) }

// members reads the body of a room's change.
func (r *request) members() (members map[string]json.RawMessage, err error) {
	if err = r.read(&members); err == nil && len(members) == 0 {
		err = badRequest(`the body changes nothing: it must be {"member": value, …}`)
	}
	return members, err
}

// roomAct serves an act that takes members.
func roomAct(act func(k keeper, r *request, id string, members map[string]json.RawMessage) (RoomDone, error)) func(*request) (any, error) {
	return func(r *request) (any, error) {
		k, err := r.keeper()
		if err != nil {
			return nil, err
		}
		members, err := r.members()
		if err != nil {
			return nil, err
		}
		out, err := act(k, r, r.query.Get("id"), members)
		return out, roomError(err)
	}
}

// apiCreateRoom adds a room.
func apiCreateRoom(r *request) (any, error) {
	return roomAct(func(k keeper, r *request, _ string, m map[string]json.RawMessage) (RoomDone, error) {
		return k.create(r, m)
	})(r)
}

// apiEditRoom changes a room.
func apiEditRoom(r *request) (any, error) {
	return roomAct(func(k keeper, r *request, id string, m map[string]json.RawMessage) (RoomDone, error) {
		return k.edit(r, id, m)
	})(r)
}

// apiDeleteRoom takes a room away.
func apiDeleteRoom(r *request) (any, error) {
	k, err := r.keeper()
	if err != nil {
		return nil, err
	}
	out, err := k.remove(r, r.query.Get("id"))
	return out, roomError(err)
}

// apiRoomAction pauses, resumes, opens or resets a room.
func apiRoomAction(r *request) (any, error) {
	k, err := r.keeper()
	if err != nil {
		return nil, err
	}
	var in RoomAction
	if err := r.read(&in); err != nil {
		return nil, err
	}
	if err := gate.Action(in.Action).Check(); err != nil {
		return nil, roomError(err)
	}
	out, err := k.act(r, r.query.Get("id"), in.Action)
	return out, roomError(err)
}

// noteAct takes down in the portal's audit trail what was done to a room.
func (r *request) noteAct(what, id string) {
	r.p.Concert.Audit(r.by(), persist.Act{What: what, Note: id})
}

// inSettings has a change of the list of rooms be made like any other setting's.
func (r *request) inSettings(id, what string, list func(*rooms.Set) (json.RawMessage, error)) (RoomDone, error) {
	out := done(id)
	made, err := r.change(Edit{What: what, Rooms: list})
	if err != nil {
		return out, inWords(err)
	}
	out.DryRun, out.Affects, out.Warnings = made.DryRun, made.Affects, made.Warnings
	if !made.DryRun {
		out.Undo = r.p.Concert.Settings().Updated.Format(time.RFC3339Nano)
	}
	return out, nil
}

// roomsWrong is an error whose text is what is wrong with rooms alone.
type roomsWrong struct{ error }

// Error leaves out the list of all rooms, which nobody has typed.
func (e roomsWrong) Error() string {
	var all []string
	for _, one := range settingProblems(e.error) {
		all = append(all, one.Fix)
	}
	return strings.Join(all, "; ")
}

// Unwrap returns the cause.
func (e roomsWrong) Unwrap() error { return e.error }

// inWords has an error that is about the list of rooms alone say what is wrong
// with it, and not how the list would have read.
func inWords(err error) error {
	problem, ok := errors.AsType[*Problem](err)
	all := settingProblems(err)
	other := func(p SettingProblem) bool { return p.Key != "rooms" || p.Fix == "" }
	if !ok || len(all) == 0 || slices.ContainsFunc(all, other) {
		return err
	}
	return &Problem{problem.Status, roomsWrong{err}}
}

// fixed says why settings cannot be changed; "" when they can.
func (r *request) fixed() string {
	if r.p.Concert.Settings().Fixed {
		return "Settings are fixed: the program was started without sources to change them in."
	}
	return ""
}

// shortly writes a duration without parts that are nothing.
func shortly(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
