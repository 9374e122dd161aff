package blackbox

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/andreimerlescu/concert/blackbox/launch"
	"github.com/andreimerlescu/concert/internal/rawtest"
	"github.com/andreimerlescu/concert/line/redis/redistest"
)

// holdRoom is a room for what the scripted origin holds.
const holdRoom = `[{"id":"till","name":"The till","paths":["/hold/*"],"cap":1,"message":"Cards only."}]`

// roomFigures are what the tests read of one room's stats.
type roomFigures struct {
	ID                string
	Cap, Occupancy    int
	QueueDepth        int `json:"queue_depth"`
	AtDoor            int `json:"at_door"`
	LiveQueueDepth    int `json:"live_queue_depth"`
	AdmittedTotal     int `json:"admitted_total"`
	QueueRefusedTotal int `json:"queue_refused_total"`
}

// roomStats reads the first room's figures.
func roomStats(t *testing.T, p *launch.Process) roomFigures {
	t.Helper()
	_, body := call(t, http.MethodGet, p.URL+"/_room/stats", "", "")
	var all struct{ Rooms []roomFigures }
	if err := json.Unmarshal([]byte(body), &all); err != nil || len(all.Rooms) == 0 {
		t.Fatalf("stats %s: %v", body, err)
	}
	return all.Rooms[0]
}

// occupy has a client that the origin holds take the room's only slot.
func occupy(t *testing.T, o *origin, p *launch.Process) {
	t.Helper()
	before := len(o.Requests())
	c := rawtest.Dial(t, p.Addr)
	c.Send("GET /hold/1 HTTP/1.1\r\nHost: site.test\r\nAccept: text/html\r\n\r\n")
	rawtest.Until(t, "the room's slot is taken", func() bool { return len(o.Requests()) == before+1 })
}

// TestRoomSurvives: places of a room outlive a crash, and one visitor waits in
// two lines.
func TestRoomSurvives(t *testing.T) {
	t.Parallel()
	o, dir := newOrigin(t), dataDir(t)
	flags := []string{"-cap", "1", "-door-max", "0", "-rooms", holdRoom}
	p := startIn(t, dir, o.Addr(), flags...)
	occupy(t, o, p)
	v := newVisitor(t, p)
	if got := v.page("/hold/pay"); got.position(t) != 1 || !strings.Contains(got.body, "Cards only.") {
		t.Errorf("the room's page: %s", got.body)
	}
	if got := v.page("/shop"); !got.isOrigin() {
		t.Errorf("the default room is free, and answers %d", got.status)
	}
	second := newVisitor(t, p)
	if got := second.page("/hold/pay").position(t); got != 2 {
		t.Errorf("the second has place %d", got)
	}
	rawtest.Until(t, "the places are on disk", func() bool { return strings.Count(read(t, dir, "queue.till.journal"), "\n") >= 3 })
	paused := strings.Replace(holdRoom, `"cap":1`, `"cap":1,"room":"paused"`, 1)
	admin(t, p, http.MethodPatch, "/_room/settings", `{"rooms":`+paused+`}`, 200) // nobody is let in before all have been asked
	p.Kill()
	o.letGo()
	p = startIn(t, dir, o.Addr(), flags...)
	if got := roomStats(t, p); got.QueueDepth != 2 {
		t.Errorf("%d wait after a crash, want 2", got.QueueDepth)
	}
	second.base, v.base = p.URL, p.URL
	if got := second.page("/hold/pay").position(t); got != 2 {
		t.Errorf("after a crash the second has place %d", got)
	}
	if got := v.page("/hold/pay").position(t); got != 1 {
		t.Errorf("after a crash the first has place %d", got)
	}
	admin(t, p, http.MethodPatch, "/_room/settings", `{"rooms":`+holdRoom+`}`, 200)
	o.openAll()
	if got := v.comeIn("/hold/pay"); !got.isOrigin() {
		t.Errorf("the first: %d", got.status)
	}
}

// TestRoomProblemsAtStart: all are named at once, and Concert does not start.
func TestRoomProblemsAtStart(t *testing.T) {
	t.Parallel()
	_, err := launch.Start(t.Context(), launch.Options{
		Binary: binary, Args: []string{"-upstream", "http://127.0.0.1:9", "-rooms", `[{"id":"a","cap":0},{"paths":["/x"],"cap":1}]`},
	})
	if err == nil {
		t.Fatal("started")
	}
	for _, want := range []string{"-rooms", `room \"a\": cap 0`, `room \"a\": it has neither`, "room 2: id is missing"} {
		if !strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), strings.ReplaceAll(want, `\"`, `"`)) {
			t.Errorf("the error lacks %s: %v", want, err)
		}
	}
}

// TestRoomIsSharedByInstances: on Redis each room is one line, too.
func TestRoomIsSharedByInstances(t *testing.T) {
	t.Parallel()
	s, o := redistest.Start(t), newOrigin(t)
	flags := []string{"-cap", "5", "-door-max", "0"}
	a := member(t, s, "a", o.Addr(), flags...)
	b := member(t, s, "b", o.Addr(), flags...)
	admin(t, a, http.MethodPatch, "/_room/settings", `{"rooms":`+holdRoom+`}`, 200)
	rawtest.Until(t, "the other instance has the room", func() bool {
		text := admin(t, b, http.MethodGet, "/_room/stats", "", 200)
		return strings.Contains(text, `"id":"till"`)
	})
	held := make(chan answer, 1)
	first := newVisitor(t, a)
	go func() { // ends when the origin lets go
		for range 50 {
			if got := first.page("/hold/1"); got.isOrigin() {
				held <- got
				return
			}
			<-time.After(200 * time.Millisecond)
		}
		held <- answer{}
	}()
	rawtest.Until(t, "the slot is taken", func() bool { return countLines(o, "GET /hold/1 HTTP/1.1") == 1 })
	v := newVisitor(t, b)
	if got := v.page("/hold/2").position(t); got != 1 {
		t.Errorf("on the other instance the first who waits has place %d", got)
	}
	v.base = a.URL // the same room, whichever instance answers
	if got := v.page("/hold/2").position(t); got != 1 {
		t.Errorf("back on the first: place %d", got)
	}
	if got := v.page("/shop"); !got.isOrigin() {
		t.Errorf("the default room: %d", got.status)
	}
	o.openAll()
	if got := <-held; !got.isOrigin() {
		t.Errorf("who was held: %d", got.status)
	}
	if got := v.comeIn("/hold/2"); !got.isOrigin() {
		t.Errorf("who waited: %d", got.status)
	}
}

// TestRoomInABrowser: the room's page polls its own line and goes in by itself.
func TestRoomInABrowser(t *testing.T) {
	t.Parallel()
	ctx := browser(t)
	o := newOrigin(t)
	p := start(t, o.Addr(), "-cap", "1", "-door-max", "0", "-rooms", holdRoom)
	occupy(t, o, p)
	if err := chromedp.Do(ctx, chromedp.Navigate(p.URL+"/hold/pay"), chromedp.WaitVisible("#position")); err != nil {
		t.Fatal(err)
	}
	title, err := chromedp.Run(ctx, chromedp.Title())
	if err != nil || !strings.Contains(title, "The till") {
		t.Errorf("the page is called %q, %v", title, err)
	}
	if dir := os.Getenv("BLACKBOX_SHOTS"); dir != "" {
		shot, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
		if err != nil {
			t.Fatal(err)
		}
		write(t, dir, "room.png", string(shot))
	}
	o.openAll()
	rawtest.Until(t, "the browser is in", func() bool { return countLines(o, "GET /hold/pay HTTP/1.1") == 1 })
	rawtest.Until(t, "the room is empty", func() bool { f := roomStats(t, p); return f.QueueDepth == 0 && f.Occupancy == 0 })
}
