package portal

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/gate"
	"github.com/andreimerlescu/concert/portal/view"
)

// gateRooms are off-site rooms.
type gateRooms struct{ store gate.Store }

var _ keeper = gateRooms{}

func (gateRooms) title() view.RoomKind {
	return view.RoomKind{Kind: kindGate, Title: "New off-site room", Text: "Visitors of a site elsewhere wait in it, and go back there with a signed token."}
}

func (g gateRooms) list(r *request) ([]view.Room, error) {
	all, err := g.store.Rooms(r.Context(), r.now)
	out := make([]view.Room, len(all))
	for i := range all {
		out[i] = gateRoom(&all[i])
	}
	return out, err
}

// gateRoom is a room as the portal shows it.
func gateRoom(l *gate.Live) view.Room {
	v := view.Room{
		Kind: kindGate, ID: l.ID, Name: l.Name, Where: l.TargetURL, State: string(l.State),
		Waiting: int(l.QueueLength), Inside: l.OnSite, Cap: l.Cap, Issued: l.Issued, Passed: l.PassedTotal,
		Rate: fmt.Sprintf("%d per %s", l.Inflow, config.FormatDuration(l.Interval())),
	}
	if v.Name == "" {
		v.Name = v.ID
	}
	if v.Where == "" {
		v.Where = "a site without a waiting page"
	}
	return v
}

func (g gateRooms) detail(r *request, id string) (view.RoomDetail, error) {
	var d view.RoomDetail
	l, err := g.store.Room(r.Context(), r.now, id)
	if err != nil {
		return d, err
	}
	st, err := g.store.Stats(r.Context(), r.now, id)
	if err != nil {
		return d, err
	}
	messages, err := g.store.Messages(r.Context(), id)
	if err != nil {
		return d, err
	}
	d = view.RoomDetail{
		Room: gateRoom(&l), Admitted: l.Admitted, PeakWaiting: st.PeakQueue, PeakWaitingAt: st.PeakQueueAt,
		PeakRate: st.PeakRate, PeakRateAt: st.PeakRateAt, PerMinute: []view.RoomMinute{}, Messages: []view.RoomMessage{},
		Fields: gateFields(&l.Room)[1:], // the id never changes
	}
	for _, m := range st.PassedPerMinute {
		d.PerMinute = append(d.PerMinute, view.RoomMinute(m))
	}
	for _, m := range messages {
		d.Messages = append(d.Messages, view.RoomMessage{ID: m.ID, Text: m.Text, Level: string(m.Level), Enabled: m.Enabled})
	}
	d.Acts, err = g.store.Audit(r.Context(), id, maxRoomActs)
	return d, err
}

func (gateRooms) fields() []view.RoomField {
	r := gate.DefaultRoom()
	return gateFields(&r)
}

// gateFields is the form of a room.
func gateFields(r *gate.Room) []view.RoomField {
	n := strconv.Itoa
	return []view.RoomField{
		{Name: "id", Label: "Id", Kind: "text", Value: r.ID, Needed: true, Help: "Names it in addresses and never changes: a to z, 0 to 9, - and _."},
		{Name: "name", Label: "Name", Kind: "text", Value: r.Name, Help: "Shown on the waiting page."},
		{Name: "target_url", Label: "Site", Kind: "text", Value: r.TargetURL, Help: "Its address, such as https://shop.example/. Visitors are sent back to its origin and nowhere else."},
		{Name: "inflow", Label: "Inflow", Kind: "number", Value: n(r.Inflow), Needed: true, Help: "So many visitors are let in per interval, evenly."},
		{Name: "interval_sec", Label: "Interval", Kind: "number", Value: n(r.IntervalSec), Needed: true, Help: "In seconds."},
		{Name: "burst", Label: "Burst", Kind: "number", Value: n(r.Burst), Help: "Most at once after a quiet time; 0 is as the inflow."},
		{Name: "cap", Label: "Cap", Kind: "number", Value: n(r.Cap), Help: "Most visitors on the site at once; 0 is no limit."},
		{Name: "enabled", Label: "Open to newcomers", Kind: "check", Value: strconv.FormatBool(r.Enabled), Help: "Without it the room is closed: no tickets, and nobody is let in."},
		{Name: "queue_ttl_sec", Label: "Tickets live", Kind: "number", Value: n(r.QueueTTLSec), Help: "Seconds after their owner was last seen. Set it to the longest wait you expect."},
		{Name: "access_ttl_sec", Label: "Access lasts", Kind: "number", Value: n(r.AccessTTLSec), Help: "In seconds."},
		{Name: "audience", Label: "Audience", Kind: "text", Value: r.Audience, Help: "What access tokens are for; the site checks it. Empty for a new room is its id."},
	}
}

func (g gateRooms) create(r *request, members map[string]json.RawMessage) (RoomDone, error) {
	room, err := gate.ReadRoom(members)
	if err == nil {
		_, err = g.store.Create(r.Context(), r.now, r.by(), room)
	}
	if err == nil {
		r.noteAct("create room", room.ID)
	}
	return done(room.ID), err
}

func (g gateRooms) edit(r *request, id string, members map[string]json.RawMessage) (RoomDone, error) {
	live, err := g.store.Room(r.Context(), r.now, id)
	if err != nil {
		return done(id), err
	}
	p, problems := gate.ReadPatch(members)
	if next, _ := p.Apply(live.Room); len(problems) > 0 {
		return done(id), next.CheckWith(problems)
	}
	_, err = g.store.Update(r.Context(), r.now, r.by(), id, p)
	return done(id), err
}

func (g gateRooms) remove(r *request, id string) (RoomDone, error) {
	err := g.store.Delete(r.Context(), r.now, id)
	if err == nil {
		r.noteAct("delete room", id)
	}
	return done(id), err
}

func (g gateRooms) act(r *request, id, action string) (RoomDone, error) {
	_, err := g.store.Act(r.Context(), r.now, r.by(), id, gate.Action(action))
	return done(id), err
}

// Message is the body of POST /api/rooms/messages.
type Message struct {
	Text    *string `json:"text"`
	Level   *string `json:"level"` // info or warning
	Enabled *bool   `json:"enabled"`
}

// patch is the message's change for a store.
func (m Message) patch() gate.MessagePatch {
	p := gate.MessagePatch{Text: m.Text, Enabled: m.Enabled}
	if m.Level != nil {
		p.Level = new(gate.Level(*m.Level))
	}
	return p
}

// apiMessage adds a message to a room, or changes one.
func apiMessage(r *request) (any, error) {
	var in Message
	if err := r.read(&in); err != nil {
		return nil, err
	}
	store, id, err := r.gateRoom()
	if err != nil {
		return nil, err
	}
	p := in.patch()
	if message := r.query.Get("message"); message != "" {
		_, err = store.UpdateMessage(r.Context(), r.now, r.by(), id, message, p)
	} else {
		_, err = store.AddMessage(r.Context(), r.now, r.by(), id, p.Apply(gate.Message{Level: gate.Info, Enabled: true}))
	}
	return done(id), roomError(err)
}

// apiDeleteMessage takes a message of a room away.
func apiDeleteMessage(r *request) (any, error) {
	store, id, err := r.gateRoom()
	if err != nil {
		return nil, err
	}
	return done(id), roomError(store.DeleteMessage(r.Context(), r.now, r.by(), id, r.query.Get("message")))
}

// gateRoom is the room whose messages a request is about.
func (r *request) gateRoom() (gate.Store, string, error) {
	if r.p.Gate == nil {
		return nil, "", noGate()
	}
	return r.p.Gate, r.query.Get("id"), nil
}
