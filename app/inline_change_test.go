package app

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/line"
)

func changeRooms(t *testing.T, a *App, list string) {
	t.Helper()
	if w := ask(a, "PATCH", "/_room/settings", `{"rooms":`+list+`}`, testToken); w.Code != 200 {
		t.Fatalf("rooms %s: %d %s", list, w.Code, w.Body)
	}
}

// TestRoomsChangeWhileTheyRun: without a place lost.
func TestRoomsChangeWhileTheyRun(t *testing.T) {
	a := newLive(t, "", "-cap=5", "-door-max=0")
	b := newVisitor(a, "203.0.113.1")
	if w := b.get("/checkout/pay"); w.Body.Len() != 0 {
		t.Fatalf("without rooms: %d", w.Code)
	}
	changeRooms(t, a, checkoutRoom)
	room := a.inline.get("checkout")
	takeSlots(t, room.line, 1)
	b.get("/checkout/pay")
	if w := ask(a, "POST", "/_room/cap", `{"cap":1,"room":"no"}`, testToken); w.Code != http.StatusNotFound {
		t.Errorf("cap of no room: %d %s", w.Code, w.Body)
	}
	if w := ask(a, "PATCH", "/_room/settings?dry-run=1", `{"rooms":[]}`, testToken); !strings.Contains(w.Body.String(), "1 wait in room checkout") {
		t.Errorf("removal: %s", w.Body)
	}
	changeRooms(t, a, `[]`)
	if w := b.get("/queue/status?room=checkout"); strings.TrimSpace(w.Body.String()) != `{"ready":true}` {
		t.Errorf("poll in a removed room: %s", w.Body)
	}
	if w := b.get("/checkout/pay"); w.Body.Len() != 0 {
		t.Errorf("a removed room still has a line: %d", w.Code)
	}
	if w := ask(a, "POST", "/_room/settings/undo", "", testToken); w.Code != 200 {
		t.Fatalf("undo: %s", w.Body)
	}
	if a.inline.get("checkout") != room || room.line.Stats(time.Now()).Live != 1 {
		t.Errorf("undone: %+v", room.line.Stats(time.Now()))
	}
	if w := ask(a, "POST", "/_room/cap", `{"cap":2,"room":"checkout"}`, testToken); w.Code != 200 || w.Body.String() != `{"cap":2,"occupancy":1}`+"\n" {
		t.Errorf("cap: %d %s", w.Code, w.Body)
	}
	if w := b.get("/checkout/pay"); w.Body.Len() != 0 {
		t.Errorf("with a larger cap: %d %s", w.Code, w.Body)
	}
	bad := `[{"id":"checkout","paths":["/checkout/*"],"cap":0},{"id":"b","hosts":["x y"],"cap":1}]`
	w := ask(a, "PATCH", "/_room/settings", `{"rooms":`+bad+`}`, testToken)
	if body := w.Body.String(); w.Code != 400 || !strings.Contains(body, "cap 0") || !strings.Contains(body, "x y") {
		t.Errorf("bad rooms: %d %s", w.Code, body)
	}
	if a.inline.get("checkout").line.Stats(time.Now()).Settings.Policy.Cap != 2 {
		t.Error("bad rooms changed something")
	}
}

// TestBansEmptyEveryLine: a banned client waits nowhere.
func TestBansEmptyEveryLine(t *testing.T) {
	a := newLive(t, "", "-cap=1", "-door-max=0", "-rooms", checkoutRoom)
	takeSlots(t, a.inline.get("checkout").line, 1)
	newVisitor(a, "203.0.113.9").get("/checkout/pay")
	if w := ask(a, "POST", "/_room/abuse", `{"client":"203.0.113.9","duration":"1h"}`, testToken); w.Code != 200 {
		t.Fatal(w.Body)
	}
	if n := a.inline.get("checkout").line.Stats(time.Now()).Live; n != 0 {
		t.Errorf("%d still wait", n)
	}
}

// TestRoomsAreHandedOver: the successor has each room's line, and counts what the
// predecessor still has at the origin against each room's cap.
func TestRoomsAreHandedOver(t *testing.T) {
	old := newLive(t, "", "-cap=5", "-door-max=0")
	changeRooms(t, old, strings.Replace(checkoutRoom, `"cap":1`, `"cap":3`, 1))
	room := old.inline.get("checkout")
	slots := takeSlots(t, room.line, 3)
	b := newVisitor(old, "203.0.113.1")
	b.get("/checkout/pay")
	handed := leave(t, old)
	if handed.InFlight.Rooms["checkout"] != 3 || handed.InFlight.Pages != 0 {
		t.Fatalf("in flight %+v", handed.InFlight)
	}
	if d, _ := room.line.Enter(t.Context(), time.Now(), line.Entry{NoPlace: true}); d.Verdict == line.Admitted {
		t.Error("a frozen room lets in")
	}
	a := succeed(t, old, handed)
	b.app = a
	next := a.inline.get("checkout")
	if st := next.line.Stats(time.Now()); st.InFlight != 3 || st.Live != 1 {
		t.Errorf("taken over: %d in flight, %d wait; want 3 and 1", st.InFlight, st.Live)
	}
	if w := b.get("/checkout/pay"); w.Body.Len() == 0 {
		t.Error("let in beyond the cap")
	}
	room.line.Release(time.Now(), slots[0])
	a.predecessorHas(old.inFlight())
	if w := b.get("/checkout/pay"); w.Code != 200 || w.Body.Len() != 0 {
		t.Errorf("with a free slot: %d %s", w.Code, w.Body)
	}
	old.thaw()
	if st := room.line.Stats(time.Now()); st.Settings.Mode != line.Open || st.Settings.Policy.Cap != 3 {
		t.Errorf("thawed: %+v", st.Settings)
	}
}

// TestRoomsOutliveTheProcess: each line has files of its own.
func TestRoomsOutliveTheProcess(t *testing.T) {
	dir := t.TempDir()
	secret := "CONCERT_ADMIT_SECRET=" + strings.Repeat("k", 32)
	open := func() (*App, func()) {
		a, closeDir := newLiveIn(t, dir, []string{secret}, "-cap=1", "-door-max=0", "-rooms", checkoutRoom)
		ctx, stop := context.WithCancel(context.Background())
		var running sync.WaitGroup
		running.Go(func() { a.Run(ctx) })
		return a, func() { stop(); running.Wait(); closeDir() }
	}
	a, stop := open()
	takeSlots(t, a.inline.get("checkout").line, 1)
	b := newVisitor(a, "203.0.113.1")
	b.get("/checkout/pay")
	stop()
	a, stop = open()
	defer stop()
	if st := a.inline.get("checkout").line.Stats(time.Now()); st.Live != 1 {
		t.Errorf("%d wait after a restart, want 1", st.Live)
	}
	if st := a.line.Stats(time.Now()); st.Live != 0 {
		t.Errorf("%d wait in the default room", st.Live)
	}
	b.app = a
	if w := b.get("/checkout/pay"); w.Code != 200 || w.Body.Len() != 0 {
		t.Errorf("who waited: %d %s", w.Code, w.Body)
	}
}
