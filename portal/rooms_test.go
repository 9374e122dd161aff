package portal

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/gate"
	"github.com/andreimerlescu/concert/gate/memory"
	"github.com/andreimerlescu/concert/portal/view"
	"github.com/andreimerlescu/concert/rooms"
)

// TestPace counts who passes by the minute, and remembers an hour.
func TestPace(t *testing.T) {
	at := time.Date(2026, 12, 1, 10, 0, 30, 0, time.UTC)
	var p pace
	r := &roomPace{}
	p.room = map[string]*roomPace{"till": r}
	r.count(100, 3, at) // of before the first look nothing is known
	r.count(104, 9, at.Add(5*time.Second))
	r.count(110, 2, at.Add(10*time.Second))
	r.count(111, 2, at.Add(3*time.Minute))
	var d view.RoomDetail
	d.ID = "till"
	p.show(&d, at.Add(4*time.Minute))
	var got []uint64
	for _, m := range d.PerMinute {
		got = append(got, m.Passed)
	}
	if len(got) != 5 || got[0] != 10 || got[3] != 1 || got[4] != 0 || !d.PerMinute[0].Minute.Equal(at.Truncate(time.Minute)) {
		t.Errorf("per minute: %v from %v", got, d.PerMinute)
	}
	if d.PeakWaiting != 9 || d.PeakRate != 10 || !d.PeakWaitingAt.Equal(at.Add(5*time.Second)) || !d.PeakRateAt.Equal(at.Truncate(time.Minute)) {
		t.Errorf("peaks: %+v", d)
	}
	if o := observed(d.PerMinute); o != 11.0/4 {
		t.Errorf("observed %v", o)
	}
	for i := range 100 {
		r.count(111, 0, at.Add(time.Duration(5+i)*time.Minute))
	}
	p.show(&d, at.Add(105*time.Minute))
	if len(d.PerMinute) != gate.MinutesKept {
		t.Errorf("%d minutes are kept", len(d.PerMinute))
	}
	p.show(&d, at.Add(300*time.Minute)) // nobody looked for hours
	if len(d.PerMinute) != 1 || d.PerMinute[0].Passed != 0 {
		t.Errorf("after hours: %v", d.PerMinute)
	}
}

// TestRoomRoutes: off-site rooms through the API, as the pages use it.
func TestRoomRoutes(t *testing.T) {
	store, err := memory.New(memory.Options{Start: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t)
	r.Gate = store
	token := bearer(adminToken)
	ask := func(want int, method, path, body string) string {
		t.Helper()
		w := r.do(method, path, body, token)
		if w.Code != want {
			t.Fatalf("%s %s %s: %d %s, want %d", method, path, body, w.Code, w.Body, want)
		}
		return w.Body.String()
	}
	const one = "?kind=gate&id=demo"
	ask(200, "POST", "/api/rooms?kind=gate", `{"id":"demo","inflow":3,"name":"<i>"}`)
	ask(409, "POST", "/api/rooms?kind=gate", `{"id":"demo"}`)
	if text := ask(400, "POST", "/api/rooms?kind=gate", `{"id":"B","inflow":"x","no":1}`); !strings.Contains(text, "inflow") || !strings.Contains(text, "no member") || !strings.Contains(text, `id \"B\"`) && !strings.Contains(text, "id ") {
		t.Errorf("not all problems: %s", text)
	}
	ask(200, "POST", "/api/rooms/room"+one, `{"inflow":5}`)
	ask(404, "POST", "/api/rooms/room?kind=gate&id=no", `{"inflow":5}`)
	ask(400, "POST", "/api/rooms/room"+one, `{}`)
	ask(200, "POST", "/api/rooms/messages?id=demo", `{"text":"Hello."}`)
	ask(200, "POST", "/api/rooms/messages?id=demo&message=1", `{"enabled":false}`)
	ask(200, "POST", "/api/rooms/actions"+one, `{"action":"pause"}`)
	ask(400, "POST", "/api/rooms/actions"+one, `{"action":"explode"}`)
	var d view.RoomDetail
	if err := json.Unmarshal([]byte(ask(200, "GET", "/api/rooms/room"+one, "")), &d); err != nil {
		t.Fatal(err)
	}
	if d.State != "paused" || d.Rate != "5 per 10s" || len(d.Messages) != 1 || d.Messages[0].Enabled || len(d.Acts) < 4 || d.Name != "<i>" {
		t.Errorf("%+v", d)
	}
	var all Rooms
	if err := json.Unmarshal([]byte(ask(200, "GET", "/api/rooms", "")), &all); err != nil || all.Totals.Rooms != 1 || all.Totals.Open != 0 {
		t.Errorf("%+v %v", all, err)
	}
	s := r.signIn(operatorPass)
	for _, path := range []string{"/rooms", "/rooms/room" + one, "/rooms/new?kind=gate", "/rooms/new?kind=site"} {
		w := r.do("GET", path, "", withCookie(s.cookie))
		if w.Code != 200 || strings.Contains(w.Body.String(), "<i>") {
			t.Errorf("%s: %d, or a name is markup", path, w.Code)
		}
	}
	ask(200, "DELETE", "/api/rooms/messages?id=demo&message=1", "")
	ask(200, "DELETE", "/api/rooms/room"+one, "")
	ask(404, "GET", "/api/rooms/room"+one, "")
	ask(400, "GET", "/api/rooms/room?kind=else&id=demo", "")
}

// TestSiteRoomEdits: what the portal has done to the list of rooms.
func TestSiteRoomEdits(t *testing.T) {
	set, err := rooms.Parse(`[{"id":"till","paths":["/till"],"cap":2,"inflow":5}]`)
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t)
	r.program.rooms = []SiteRoom{{set.All()[0], r.program.line}}
	token := bearer(adminToken)
	list := func(method, path, body string) string {
		t.Helper()
		before := len(r.program.edits)
		if w := r.do(method, path, body, token); w.Code != 200 {
			t.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
		}
		if len(r.program.edits) != before+1 {
			t.Fatalf("%s %s is no edit", method, path)
		}
		text, err := r.program.edits[before].Rooms(set)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	const one = "?kind=site&id=till"
	for _, c := range [][4]string{
		{"POST", "/api/rooms/room" + one, `{"cap":7}`, `"cap":7`},
		{"POST", "/api/rooms/actions" + one, `{"action":"pause"}`, `"room":"paused"`},
		{"POST", "/api/rooms/actions" + one, `{"action":"open"}`, `"inflow":0`},
		{"POST", "/api/rooms?kind=site", `{"id":"b","hosts":["b.example"],"cap":1}`, `"b.example"`},
	} {
		if got := list(c[0], c[1], c[2]); !strings.Contains(got, c[3]) {
			t.Errorf("%s %s %s: %s, want %s in it", c[0], c[1], c[2], got, c[3])
		}
	}
	if got := list("DELETE", "/api/rooms/room"+one, ""); got != "[]" {
		t.Errorf("deleted: %s", got)
	}
	if w := r.do("POST", "/api/rooms/room"+one, `{"id":"other"}`, token); w.Code != 400 {
		t.Errorf("renamed: %d", w.Code)
	}
}

// TestRoomsInWords: the form says what is wrong with its room, not how the list of
// all rooms would have read.
func TestRoomsInWords(t *testing.T) {
	list := &config.Problem{Key: "rooms", Name: "rooms", Value: `[{"id":"A"}]`, Want: "a JSON array", Fix: `room 1: id "A": choose another`}
	err := inWords(&Problem{http.StatusBadRequest, fmt.Errorf("change: %w", list)})
	if problem, ok := errors.AsType[*Problem](err); err.Error() != list.Fix || !ok || problem.Status != http.StatusBadRequest || len(settingProblems(err)) != 1 {
		t.Errorf("%#v", err)
	}
	two := inWords(&Problem{http.StatusBadRequest, errors.Join(list, &config.Problem{Key: "rooms", Fix: `room 2: cap is missing`, Part: true})})
	if want := list.Fix + "; room 2: cap is missing"; two.Error() != want {
		t.Errorf("two problems: %v, want %s", two, want)
	}
	for _, other := range []error{list, &Problem{http.StatusConflict, errors.New("too late")}, &Problem{http.StatusBadRequest, errors.Join(list, &config.Problem{Key: "cap"})}} {
		if inWords(other) != other {
			t.Errorf("%v became %v", other, inWords(other))
		}
	}
}
