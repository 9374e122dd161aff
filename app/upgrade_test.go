package app

import (
	"net/netip"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/handover"
	"github.com/andreimerlescu/concert/line"
)

// enterLine takes a place or a slot in an App's line.
func enterLine(t *testing.T, a *App, last byte, hold bool) line.Decision {
	t.Helper()
	client := netip.PrefixFrom(netip.AddrFrom4([4]byte{203, 0, 113, last}), 32)
	d, err := a.line.Enter(t.Context(), time.Now(), line.Entry{Client: client, MayHold: hold})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// leave freezes an App and returns what its successor is handed.
func leave(t *testing.T, old *App) handover.Handed {
	t.Helper()
	state, err := old.freeze(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return handover.Handed{State: state, InFlight: old.inFlight()}
}

// succeed returns the App that takes up what an old one has handed on.
func succeed(t *testing.T, old *App, handed handover.Handed) *App {
	t.Helper()
	loaded, err := Inherit(old.loaded, handed)
	if err != nil {
		t.Fatal(err)
	}
	a, err := New(loaded.Config, Options{Origin: instant{}, Loaded: loaded, Handed: handed})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestFrozenAppChangesNothing, and a thawed one goes on as before.
func TestFrozenAppChangesNothing(t *testing.T) {
	a := newLive(t, "", "-cap=2")
	if _, err := a.freeze(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, r := range []struct{ method, path, body string }{
		{"POST", "/_room/cap", `{"cap":7}`}, {"PATCH", "/_room/settings", `{"cap":7}`}, {"POST", "/_room/settings/undo", ""},
		{"POST", "/_room/abuse", `{"client":"203.0.113.1","permanent":true}`}, {"DELETE", "/_room/abuse?client=203.0.113.1", ""},
		{"POST", "/_room/promote", `{}`},
	} {
		if w := ask(a, r.method, r.path, r.body, testToken); w.Code != 503 || w.Header().Get("Retry-After") == "" {
			t.Errorf("%s %s: %d %s", r.method, r.path, w.Code, w.Body)
		}
	}
	if w := ask(a, "GET", "/_room/settings", "", testToken); w.Code != 200 {
		t.Errorf("reading: %d", w.Code)
	}
	if d := enterLine(t, a, 1, true); d.Verdict != line.Waiting {
		t.Errorf("frozen: verdict %v, want waiting", d.Verdict)
	}
	a.thaw()
	if w := ask(a, "POST", "/_room/cap", `{"cap":3}`, testToken); w.Code != 200 {
		t.Errorf("thawed: %d %s", w.Code, w.Body)
	}
	if d := enterLine(t, a, 2, false); d.Verdict == line.Shut || a.line.Stats(time.Now()).Settings.Mode != line.Open {
		t.Errorf("thawed: verdict %v", d.Verdict)
	}
}

// TestSuccessorGoesOn: a second App takes up what the first one leaves, and
// what that still has at the origin counts against its cap.
func TestSuccessorGoesOn(t *testing.T) {
	old := newLive(t, "", "-cap=2", "-door-max=0")
	if w := ask(old, "PATCH", "/_room/settings", `{"cap":3}`, testToken); w.Code != 200 {
		t.Fatal(w.Body)
	}
	ask(old, "POST", "/_room/abuse", `{"client":"198.51.100.9","permanent":true}`, testToken)
	var slots []line.Slot
	for i := range byte(3) {
		slots = append(slots, enterLine(t, old, i, false).Slot)
	}
	waits := enterLine(t, old, 9, false)
	handed := leave(t, old)
	if handed.InFlight.Pages != 3 {
		t.Fatalf("%d pages in flight, want 3", handed.InFlight.Pages)
	}

	a := succeed(t, old, handed)
	if s := a.Stats(); s.Cap != 3 || s.Occupancy != 3 || s.QueueDepth != 1 {
		t.Errorf("cap %d, %d in flight, %d wait; want 3, 3, 1", s.Cap, s.Occupancy, s.QueueDepth)
	}
	if a.abuse.Lookup(netip.MustParseAddr("198.51.100.9"), time.Now()) == nil {
		t.Error("the ban is gone")
	}
	if got, want := a.cfg.Load().AdmitSecrets[0], old.cfg.Load().AdmitSecrets[0]; string(got) != string(want) {
		t.Error("tickets that the old process signed are worth nothing")
	}
	st, err := a.line.Look(t.Context(), time.Now(), waits.Place.Ticket)
	if err != nil || !st.Known || st.Place.Position != 1 {
		t.Errorf("who waited: %+v, %v", st, err)
	}
	for i, s := range slots {
		old.line.Release(time.Now(), s)
		a.predecessorHas(old.inFlight())
		if got, want := a.Stats().Occupancy, 2-i; got != want {
			t.Errorf("%d in flight after %d releases, want %d", got, i+1, want)
		}
	}
	if w := ask(a, "PATCH", "/_room/settings", `{"cap":null}`, testToken); w.Code != 200 || a.Stats().Cap != 2 {
		t.Errorf("reset of what came along: %d %s, cap %d", w.Code, w.Body, a.Stats().Cap)
	}
}

// TestDwindling: of a line that leaves, only those at the door are let in.
func TestDwindling(t *testing.T) {
	f := func(flags []string, st line.Stats, mode line.Mode, cap int) {
		t.Helper()
		loaded, err := config.Load(flags, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := dwindling(lineSettings(loaded.Config), st)
		if got.Mode != mode || got.Policy.Cap != cap || got.DoorMax != 0 {
			t.Errorf("%q, %d at the door, %d in flight: mode %v, cap %d, door %d", flags, st.AtDoor, st.InFlight, got.Mode, got.Policy.Cap, got.DoorMax)
		}
	}
	f([]string{"-cap=9"}, line.Stats{InFlight: 4, AtDoor: 1}, line.Open, 4)
	f([]string{"-cap=9"}, line.Stats{InFlight: 4}, line.Paused, 9)
	f([]string{"-cap=9"}, line.Stats{AtDoor: 1}, line.Paused, 9)
	f([]string{"-cap=9", "-inflow=1"}, line.Stats{InFlight: 4, AtDoor: 1}, line.Paused, 9)
	f([]string{"-cap=9", "-room=closed"}, line.Stats{InFlight: 4, AtDoor: 1}, line.Closed, 4)
}

func TestDamagedLegacyIsRefused(t *testing.T) {
	a := newLive(t, "")
	state, err := a.freeze(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readLegacy(state); err != nil {
		t.Fatal(err)
	}
	for _, cut := range []int{0, 1, len(state) / 2, len(state) - 2} {
		if _, err := readLegacy(state[:cut]); err == nil {
			t.Errorf("%d of %d bytes are accepted", cut, len(state))
		}
	}
}
