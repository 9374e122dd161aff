package view

import (
	"fmt"
	"io"
	"net/url"
	"time"

	"github.com/andreimerlescu/concert/persist"
)

// Room is a room in a few words and figures. Kind says what it is about: parts
// of the site behind Concert ("site"), or a site elsewhere ("gate").
type Room struct {
	Kind    string `json:"kind"`
	ID      string `json:"id"`
	Name    string `json:"name"`  // for people; never empty
	Where   string `json:"where"` // what it is the room of, in words
	State   string `json:"state"` // open, paused or closed
	Waiting int    `json:"waiting"`
	Inside  int    `json:"inside"` // page requests at the origin; visitors that the cap counts
	Cap     int    `json:"cap"`    // 0: none
	Issued  uint64 `json:"issued"` // places given
	Passed  uint64 `json:"passed_total"`
	Rate    string `json:"rate"` // how fast visitors are let in, in words; "" without a limit
}

// Link is the page of the room.
func (r Room) Link() string {
	return "/rooms/room?" + url.Values{"kind": {r.Kind}, "id": {r.ID}}.Encode()
}

// Key tells rows of both kinds apart.
func (r Room) Key() string { return r.Kind + ":" + r.ID }

// OnSite says that the room is a part of the site behind Concert.
func (r Room) OnSite() bool { return r.Kind == "site" }

// RoomMinute is how many visitors passed in a minute.
type RoomMinute struct {
	Minute time.Time `json:"minute"` // its beginning
	Passed uint64    `json:"passed"`
}

// RoomMessage is a message for those who wait.
type RoomMessage struct {
	ID      string `json:"id"`
	Text    string `json:"text"`
	Level   string `json:"level"` // info or warning
	Enabled bool   `json:"enabled"`
}

// RoomField is a member of a room in a form.
type RoomField struct {
	Name, Label, Help string
	Kind              string // text, number, list, check or choice
	Value             string // of a list, an entry a line; of a check true or false
	Choices           []string
	Needed            bool
}

// RoomDetail is everything about a room.
type RoomDetail struct {
	Room
	Admitted      uint64        `json:"admitted"`            // whose turn has come
	Observed      float64       `json:"observed_per_minute"` // who passed, by the last minutes
	PeakWaiting   uint64        `json:"peak_waiting"`
	PeakWaitingAt time.Time     `json:"peak_waiting_at,omitzero"`
	PeakRate      uint64        `json:"peak_passed_per_minute"`
	PeakRateAt    time.Time     `json:"peak_passed_per_minute_at,omitzero"`
	PerMinute     []RoomMinute  `json:"passed_per_minute"` // the oldest first
	Messages      []RoomMessage `json:"messages"`
	Acts          []persist.Act `json:"audit"`
	Fields        []RoomField   `json:"-"`
	Fixed         string        `json:"-"` // why nothing can be changed; "" when it can
}

// RoomsPage is the overview of all rooms.
type RoomsPage struct {
	Rooms  []Room
	Kinds  []RoomKind // of which there can be more
	Totals RoomTotals
	Peaks  []Fact
}

// RoomKind is a kind of rooms that can be added.
type RoomKind struct{ Kind, Title, Text string }

// RoomTotals are sums over rooms.
type RoomTotals struct {
	Rooms   int    `json:"rooms"`
	Open    int    `json:"open"`
	Waiting int    `json:"waiting"`
	Inside  int    `json:"inside"`
	Passed  uint64 `json:"passed_total"`
}

// NewRoomPage is the form of a room that is to be made.
type NewRoomPage struct {
	RoomKind
	Fields []RoomField
}

func roomsSummary(p RoomsPage) string { return counted(len(p.Rooms), "room", "rooms") }

// RenderRooms writes the overview of rooms.
func RenderRooms(w io.Writer, f Frame, p RoomsPage) error { return render(w, TabRooms, f, p) }

// RoomsFragment renders the rows and totals of the overview.
func RoomsFragment(f Frame, p RoomsPage) (Fragment, error) {
	return table("rooms-live", f, p, NewPaging(len(p.Rooms), 1, len(p.Rooms)), roomsSummary(p))
}

// RenderRoom writes the page of one room.
func RenderRoom(w io.Writer, f Frame, p RoomDetail) error { return renderAs(w, "room", f, p) }

// RoomFragment renders what changes on the page of one room.
func RoomFragment(f Frame, p RoomDetail) (Fragment, error) {
	return table("room-live", f, p, NewPaging(1, 1, 1), p.Name+" is "+p.State)
}

// RenderNewRoom writes the form of a new room.
func RenderNewRoom(w io.Writer, f Frame, p NewRoomPage) error { return renderAs(w, "newroom", f, p) }

// renderAs writes a page below the Rooms tab.
func renderAs(w io.Writer, name string, f Frame, page any) error {
	f.Tab = TabRooms
	return execute(w, name, sheet{Frame: f, Page: page})
}

// Size of the drawing of minutes, in its own units.
const (
	minutesWide = 600
	minutesHigh = 100
)

// minuteBar is one bar of the drawing.
type minuteBar struct {
	X, Y, Width, Height string
	Title               string
}

// minutesCell is the drawing of who passed per minute.
type minutesCell struct {
	Most    uint64
	Summary string
	Bars    []minuteBar
	From    time.Time
}

// minutes draws who passed, a bar for each minute.
func minutes(all []RoomMinute) minutesCell {
	c := minutesCell{Summary: "Nobody has passed in the last hour."}
	sum := uint64(0)
	for _, m := range all {
		c.Most, sum = max(c.Most, m.Passed), sum+m.Passed
	}
	if len(all) == 0 || c.Most == 0 {
		return c
	}
	c.From = all[0].Minute
	c.Summary = fmt.Sprintf("%s passed in the last %d minutes, at most %s in one.", number(int(sum)), len(all), number(int(c.Most)))
	step := float64(minutesWide) / float64(len(all))
	for i, m := range all {
		high := float64(m.Passed) / float64(c.Most) * minutesHigh
		one := func(v float64) string { return fmt.Sprintf("%.1f", v) }
		c.Bars = append(c.Bars, minuteBar{one(float64(i)*step + 1), one(minutesHigh - high), one(max(1, step-2)), one(high),
			m.Minute.UTC().Format("15:04") + ": " + number(int(m.Passed))})
	}
	return c
}

// hour takes minutes together in steps of five, for the table that stands for
// the drawing, the latest first.
func hour(all []RoomMinute) []RoomMinute {
	var rows []RoomMinute
	for end := len(all); end > 0; end -= 5 {
		begin := max(0, end-5)
		row := RoomMinute{Minute: all[begin].Minute}
		for _, m := range all[begin:end] {
			row.Passed += m.Passed
		}
		rows = append(rows, row)
	}
	return rows
}
