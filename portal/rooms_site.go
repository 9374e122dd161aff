package portal

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/persist"
	"github.com/andreimerlescu/concert/portal/view"
	"github.com/andreimerlescu/concert/rooms"
)

// SiteRoom is a room within the site, with its line.
type SiteRoom struct {
	rooms.Room
	Line line.Line
}

// siteRooms are rooms within the site.
type siteRooms struct{}

var _ keeper = siteRooms{}

func (siteRooms) title() view.RoomKind {
	return view.RoomKind{Kind: kindSite, Title: "New room", Text: "A part of the site behind Concert, by host and path, with a line of its own. The origin gets its cap on top of what it gets already."}
}

func (siteRooms) list(r *request) ([]view.Room, error) {
	var out []view.Room
	for _, s := range r.p.Concert.Rooms() {
		out = append(out, siteRoom(&s.Room, s.Line.Stats(r.now)))
	}
	return out, nil
}

// siteRoom is a room as the portal shows it.
func siteRoom(s *rooms.Room, st line.Stats) view.Room {
	v := view.Room{
		Kind: kindSite, ID: s.ID, Name: s.Title(), Where: s.Where(), State: st.Settings.Mode.String(),
		Waiting: st.Live, Inside: st.InFlight, Cap: st.Settings.Policy.Cap, Issued: st.QueuedTotal, Passed: st.AdmittedTotal,
	}
	if p := st.Settings.Policy; p.Inflow > 0 {
		v.Rate = fmt.Sprintf("%d per %s", p.Inflow, config.FormatDuration(p.Interval))
	}
	return v
}

// find is the room with an id.
func (siteRooms) find(r *request, id string) (SiteRoom, error) {
	for _, s := range r.p.Concert.Rooms() {
		if s.ID == id {
			return s, nil
		}
	}
	return SiteRoom{}, fmt.Errorf("room %q: %w", id, rooms.ErrUnknown)
}

func (k siteRooms) detail(r *request, id string) (view.RoomDetail, error) {
	s, err := k.find(r, id)
	if err != nil {
		return view.RoomDetail{}, err
	}
	st := s.Line.Stats(r.now)
	d := view.RoomDetail{
		Room: siteRoom(&s.Room, st), Admitted: st.AdmittedTotal, Messages: []view.RoomMessage{}, Acts: r.p.roomActs(id),
		Fields: siteFields(&s.Room)[1:], Fixed: r.fixed(),
	}
	r.p.pace.show(&d, r.now)
	return d, nil
}

func (siteRooms) fields() []view.RoomField {
	return siteFields(&rooms.Room{Cap: 10, MaxQueue: rooms.Inherit, Interval: rooms.DefaultInterval})
}

// siteFields is the form of a room.
func siteFields(r *rooms.Room) []view.RoomField {
	n, limit, level := strconv.Itoa, "", "info"
	if r.MaxQueue != rooms.Inherit {
		limit = n(r.MaxQueue)
	}
	if r.Warning {
		level = "warning"
	}
	return []view.RoomField{
		{Name: "id", Label: "Id", Kind: "text", Value: r.ID, Needed: true, Help: "Names it in addresses, cookies and figures: a to z, 0 to 9 and hyphens."},
		{Name: "name", Label: "Name", Kind: "text", Value: r.Name, Help: "Shown on its waiting page; empty shows the brand of the site."},
		{Name: "hosts", Label: "Hosts", Kind: "list", Value: strings.Join(r.Hosts, "\n"), Help: "One a line, *.name for all below a name. Empty: every host."},
		{Name: "paths", Label: "Paths", Kind: "list", Value: strings.Join(r.Paths, "\n"), Help: "One a line, such as /checkout/* for all below it. Empty: every path."},
		{Name: "cap", Label: "Cap", Kind: "number", Value: n(r.Cap), Needed: true, Help: "Most of its page requests at the origin at once."},
		{Name: "inflow", Label: "Inflow", Kind: "number", Value: n(r.Inflow), Help: "Most admissions in each interval, beside the cap; 0 is no rate."},
		{Name: "inflow_interval", Label: "Interval", Kind: "text", Value: r.Interval.String(), Help: "From 100ms to 1h."},
		{Name: "inflow_burst", Label: "Burst", Kind: "number", Value: n(r.Burst), Help: "Most admissions at one moment; 0 is as the inflow."},
		{Name: "max_queue", Label: "Longest line", Kind: "number", Value: limit, Help: "Newcomers are turned away beyond it; 0 is no limit, empty is that of the default room."},
		{Name: "room", Label: "State", Kind: "choice", Value: r.Mode.String(), Choices: []string{"open", "paused", "closed"}, Help: "Paused gives out places and lets nobody in; closed does neither."},
		{Name: "message", Label: "Message", Kind: "text", Value: r.Message, Help: "What its line is told. Other languages follow behind a bar: Soon. | de=Bald. Empty is the message of the site."},
		{Name: "message_level", Label: "Level of the message", Kind: "choice", Value: level, Choices: []string{"info", "warning"}, Help: "How grave it is."},
		{Name: "html", Label: "Waiting page", Kind: "text", Value: r.HTML, Help: "A file in -pages-dir to show instead of the built-in page."},
	}
}

func (siteRooms) create(r *request, members map[string]json.RawMessage) (RoomDone, error) {
	var id string
	if json.Unmarshal(members["id"], &id) != nil {
		id = ""
	}
	return r.inSettings(id, "create room", func(now *rooms.Set) (json.RawMessage, error) { return now.With(id, members, true) })
}

func (siteRooms) edit(r *request, id string, members map[string]json.RawMessage) (RoomDone, error) {
	if _, renamed := members["id"]; renamed {
		return done(id), badRequest("the id never changes: make another room, and delete this one")
	}
	return r.inSettings(id, "room", func(now *rooms.Set) (json.RawMessage, error) { return now.With(id, members, false) })
}

func (siteRooms) remove(r *request, id string) (RoomDone, error) {
	return r.inSettings(id, "delete room", func(now *rooms.Set) (json.RawMessage, error) { return now.Without(id) })
}

// act does what the same act does for an off-site room, as far as the origin's
// cap allows: open lifts the rate, and never the cap.
func (k siteRooms) act(r *request, id, action string) (RoomDone, error) {
	change := map[string]map[string]json.RawMessage{
		"pause":  {"room": encode("paused")},
		"resume": {"room": encode("open")},
		"open":   {"room": encode("open"), "inflow": json.RawMessage("0")},
	}[action]
	if change != nil {
		return r.inSettings(id, "room", func(now *rooms.Set) (json.RawMessage, error) { return now.With(id, change, false) })
	}
	s, err := k.find(r, id)
	if err != nil {
		return done(id), err
	}
	err = r.p.Concert.Act(func() error {
		for _, all := range []string{"0.0.0.0/0", "::/0"} {
			if _, err := s.Line.RemoveClients(r.Context(), r.now, netip.MustParsePrefix(all)); err != nil {
				return lineError(err)
			}
		}
		r.noteAct("reset room", id)
		return nil
	})
	return done(id), err
}

// roomActs are the acts that were about a room, with its members only.
func (p *Portal) roomActs(id string) []persist.Act {
	acts := []persist.Act{}
	for _, a := range p.Data.Acts(maxActs) {
		var changes []persist.ActChange
		for _, c := range a.Changes {
			if c.Key == "rooms" {
				for _, one := range rooms.Changes(c.From, c.To, id) {
					changes = append(changes, persist.ActChange(one))
				}
			}
		}
		if len(changes) == 0 && (a.Note != id || a.What != "reset room") {
			continue
		}
		a.Changes = changes
		if acts = append(acts, a); len(acts) == maxRoomActs {
			break
		}
	}
	return acts
}
