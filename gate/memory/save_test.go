package memory

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/andreimerlescu/concert/gate"
	"github.com/andreimerlescu/concert/persist"
)

var (
	noon     = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	operator = persist.By{Who: "token"}
)

func TestCleanRestart(t *testing.T) {
	h := newHouse(t, nil)
	first, second := h.join(noon), h.join(noon)
	g, err := h.Exchange(t.Context(), noon, "demo", first.Ticket)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.AddMessage(t.Context(), noon, operator, "demo", gate.Message{Text: "hello", Level: gate.Info}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Spend(t.Context(), noon, "once", noon.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := h.save(noon.Add(4*time.Second), true); err != nil {
		t.Fatal(err)
	}
	later := noon.Add(10 * time.Minute) // of which the rest of the ten seconds counts
	h.start(later)
	if l := h.live(later); l.Issued != 2 || l.Admitted != 1 || l.PassedTotal != 1 || l.Inflow != 1 {
		t.Errorf("after the restart: %+v", l)
	}
	if l := h.live(later.Add(6*time.Second - time.Millisecond)); l.Admitted != 1 {
		t.Errorf("the time without a process let somebody in: %+v", l)
	}
	later = later.Add(6 * time.Second)
	st, err := h.Poll(t.Context(), later, "demo", second.Ticket)
	if err != nil || !st.Admitted {
		t.Errorf("poll: %+v, %v", st, err)
	}
	if again, err := h.Exchange(t.Context(), later, "demo", first.Ticket); err != nil || !again.At.Equal(g.At) {
		t.Errorf("exchanged again: %+v, %v", again, err)
	}
	if third := h.join(later); third.Ticket.Number != 3 || third.Ticket.Run == first.Ticket.Run {
		t.Errorf("the next: %+v", third)
	}
	if ms, err := h.Messages(t.Context(), "demo"); err != nil || len(ms) != 1 || ms[0].Text != "hello" {
		t.Errorf("messages: %+v, %v", ms, err)
	}
	if fresh, err := h.Spend(t.Context(), later, "once", later.Add(time.Hour)); err != nil || fresh {
		t.Errorf("spent twice: %v, %v", fresh, err)
	}
}

// TestCrash has the process end without a word after a save: what came later is
// lost, and nobody gets the place of somebody else.
func TestCrash(t *testing.T) {
	h := newHouse(t, nil)
	saved := h.join(noon)
	if err := h.save(noon, false); err != nil {
		t.Fatal(err)
	}
	polled, err := h.Poll(t.Context(), noon, "demo", saved.Ticket)
	if err != nil {
		t.Fatal(err)
	}
	lost := h.join(noon)
	later := noon.Add(time.Second)
	h.start(later)
	if st, err := h.Poll(t.Context(), later, "demo", polled.Ticket); err != nil || st.Ticket.Number != 1 {
		t.Errorf("a token younger than the save: %+v, %v", st, err)
	}
	if _, err := h.Poll(t.Context(), later, "demo", polled.Ticket); !errors.Is(err, gate.ErrBurnt) {
		t.Errorf("the same again: %v", err)
	}
	if n := h.join(later).Ticket.Number; n != lost.Ticket.Number {
		t.Errorf("the number %d is not given again: %d", lost.Ticket.Number, n)
	}
	for _, ask := range []func(context.Context, time.Time, string, gate.Ticket) (gate.Status, error){h.Poll, h.Resume} {
		if _, err := ask(t.Context(), later, "demo", lost.Ticket); !errors.Is(err, gate.ErrGone) {
			t.Errorf("who joined after the save: %v", err)
		}
	}
}

func TestPausedRoomStaysPaused(t *testing.T) {
	h := newHouse(t, func(r *gate.Room) { r.Cap, r.AccessTTLSec = 1, 600 })
	h.join(noon)
	st := h.join(noon)
	if _, err := h.Act(t.Context(), noon, operator, "demo", gate.Pause); err != nil {
		t.Fatal(err)
	}
	if err := h.save(noon, true); err != nil {
		t.Fatal(err)
	}
	h.start(noon.Add(time.Minute))
	if l := h.live(noon.Add(time.Hour)); l.State != gate.Paused || l.Admitted != 1 {
		t.Errorf("%+v", l)
	}
	if st, err := h.Resume(t.Context(), noon.Add(time.Minute), "demo", st.Ticket); err != nil || st.Position != 1 {
		t.Errorf("%+v, %v", st, err)
	}
}

func TestDamagedFiles(t *testing.T) {
	h := newHouse(t, nil)
	st := h.join(noon)
	if err := h.save(noon, true); err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(h.path, persist.RoomStateName)
	if err := os.WriteFile(state, []byte(`{"version":1,"content":{"rooms":`), 0o600); err != nil {
		t.Fatal(err)
	}
	h.start(noon.Add(time.Second))
	if _, err := os.Stat(state + ".bad"); err != nil || !strings.Contains(h.log.String(), "begin anew") {
		t.Errorf("%v; the log: %s", err, &h.log)
	}
	if _, err := h.Poll(t.Context(), noon, "demo", st.Ticket); !errors.Is(err, gate.ErrGone) {
		t.Errorf("a ticket of a lost line: %v", err)
	}
	rooms := filepath.Join(h.path, persist.RoomsName)
	text, err := os.ReadFile(rooms)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", "{", `{"version":9,"content":{}}`, strings.Replace(string(text), `"inflow": 1,`, `"inflow": -1,`, 1), strings.Replace(string(text), `"id": "demo"`, `"id": "other"`, 1)} {
		if err := os.WriteFile(rooms, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := New(Options{Dir: h.dir, Start: noon}); err == nil || !strings.Contains(err.Error(), rooms) || !strings.Contains(err.Error(), "move it away") {
			t.Errorf("%.40q: %v", bad, err)
		}
	}
}

// TestDiskFails: what cannot be kept has not happened.
func TestDiskFails(t *testing.T) {
	h := newHouse(t, nil)
	if err := h.dir.Close(); err != nil { // nothing is written any more
		t.Fatal(err)
	}
	if _, err := h.Update(t.Context(), noon, operator, "demo", gate.Patch{Inflow: new(9)}); err == nil {
		t.Error("an update that was not saved succeeded")
	}
	if _, err := h.Create(t.Context(), noon, operator, gate.Room{ID: "x", Inflow: 1, IntervalSec: 1, QueueTTLSec: 60, AccessTTLSec: 60}); err == nil {
		t.Error("a room that was not saved was made")
	}
	if err := h.Delete(t.Context(), noon, "demo"); err == nil {
		t.Error("a deletion that was not saved succeeded")
	}
	if l := h.live(noon); l.Inflow != 1 {
		t.Errorf("%+v", l)
	}
	if all, err := h.Rooms(t.Context(), noon); err != nil || len(all) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestHandingOn has another process go on with what is in memory.
func TestHandingOn(t *testing.T) {
	first, err := New(Options{Start: noon})
	if err != nil {
		t.Fatal(err)
	}
	r := gate.DefaultRoom()
	r.ID, r.Inflow = "demo", 1
	if _, err := first.Create(t.Context(), noon, operator, r); err != nil {
		t.Fatal(err)
	}
	st, err := first.Join(t.Context(), noon, "demo")
	if err != nil {
		t.Fatal(err)
	}
	left, err := first.Freeze(noon)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.Join(t.Context(), noon, "demo"); !errors.Is(err, gate.ErrAway) {
		t.Errorf("join: %v", err)
	}
	if _, err := first.Act(t.Context(), noon, operator, "demo", gate.Pause); !errors.Is(err, gate.ErrAway) {
		t.Errorf("act: %v", err)
	}
	if _, err := first.Spend(t.Context(), noon, "x", noon); !errors.Is(err, gate.ErrAway) {
		t.Errorf("spend: %v", err)
	}
	second, err := New(Options{Start: noon.Add(time.Second), Left: left})
	if err != nil {
		t.Fatal(err)
	}
	if next, err := second.Poll(t.Context(), noon.Add(time.Second), "demo", st.Ticket); err != nil || !next.Admitted {
		t.Errorf("poll the other one: %+v, %v", next, err)
	}
	first.Thaw()
	if _, err := first.Join(t.Context(), noon, "demo"); err != nil {
		t.Errorf("thawed: %v", err)
	}
}

func TestRunSavesAndForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &house{T: t, path: t.TempDir()}
		h.start(time.Now())
		defer func() { _ = h.dir.Close() }() // nothing is written after it
		r := gate.DefaultRoom()
		r.ID, r.QueueTTLSec, r.Inflow, r.Burst = "demo", 60, 100, 100
		if _, err := h.Create(t.Context(), time.Now(), operator, r); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { h.Store.Run(ctx); close(done) }() // ends with cancel
		for range 50 {
			h.join(time.Now())
		}
		if _, err := h.Spend(t.Context(), time.Now(), "x", time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		if _, err := os.Stat(filepath.Join(h.path, persist.RoomStateName)); err != nil {
			t.Errorf("not saved: %v", err)
		}
		time.Sleep(2 * time.Minute)
		h.mu.Lock()
		n, spent := len(h.rooms["demo"].tickets.list), len(h.spent)
		h.mu.Unlock()
		if n != 0 || spent != 0 {
			t.Errorf("%d tickets and %d ids are kept", n, spent)
		}
		if st := h.join(time.Now()); st.Ticket.Number != 51 {
			t.Errorf("the next is %d", st.Ticket.Number)
		}
		cancel()
		<-done
		h.start(time.Now())
		if l := h.live(time.Now()); l.Issued != 51 {
			t.Errorf("after a clean stop: %+v", l)
		}
	})
}
