package portal

import (
	"encoding/json"

	"github.com/andreimerlescu/concert/gate"
	"github.com/andreimerlescu/concert/portal/view"
)

// Rooms is the answer of GET /api/rooms.
type Rooms struct {
	Rooms  []view.Room     `json:"rooms"`
	Totals view.RoomTotals `json:"totals"`
}

// RoomAction is the body of POST /api/rooms/actions.
type RoomAction struct {
	Action string `json:"action"` // pause, resume, open or reset
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
