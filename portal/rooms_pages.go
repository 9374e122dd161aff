package portal

import (
	"github.com/andreimerlescu/concert/gate"
	"github.com/andreimerlescu/concert/portal/view"
)

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
