package abuse

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var samePrefix = cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })

func TestSnapshotAndRestore(t *testing.T) {
	old := registry(t, config())
	old.Trap(addr("203.0.113.1"), "/.env", start)                    // over, remembered
	old.Trap(addr("203.0.113.2"), "/.env", after(time.Hour))         // ends meanwhile
	order(t, old, "203.0.113.3", 0, start)                           // permanent
	order(t, old, "10.0.0.0/8", 48*time.Hour, start)                 // a range
	order(t, old, "11.0.0.0/8", time.Minute, start)                  // a range, over
	old.Strike(addr("203.0.113.4"), "churn", 19, after(time.Hour))   // only struck
	order(t, old, "2001:db8:1:2::1", 10*time.Hour, after(time.Hour)) // running
	saved := old.Snapshot(after(time.Hour))
	if len(saved) != 5 {
		t.Fatalf("%d bans are saved, want 5: %+v", len(saved), saved)
	}
	r := registry(t, config())
	if err := r.Restore(saved, after(2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	wantBanned(t, r, "203.0.113.1", after(2*time.Hour), 0)
	wantBanned(t, r, "203.0.113.2", after(2*time.Hour), 0)
	wantBanned(t, r, "203.0.113.3", after(2*time.Hour), 1<<63-1)
	wantBanned(t, r, "10.9.9.9", after(2*time.Hour), 46*time.Hour)
	wantBanned(t, r, "11.0.0.1", start, 0)
	wantBanned(t, r, "2001:db8:1:2::9", after(2*time.Hour), 9*time.Hour)
	if diff := cmp.Diff(saved, r.Snapshot(after(2*time.Hour)), samePrefix); diff != "" {
		t.Errorf("a restored registry saves something else (-old +new):\n%s", diff)
	}
	if b := r.Trap(addr("203.0.113.1"), "/.env", after(2*time.Hour)); b.Offenses != 2 {
		t.Errorf("offense %d after the restart, want 2", b.Offenses)
	}
	if s := r.Stats(after(2 * time.Hour)); s.Tracked != 4 || s.RangeBans != 1 {
		t.Errorf("stats %+v", s)
	}
}

func TestRestoreLeavesOut(t *testing.T) {
	c := config()
	c.Allow, c.MaxEntries = trust(t, "203.0.113.1"), 2
	r := registry(t, c)
	var forgotten int
	r.Subscribe(func(e Event) { forgotten++ })
	now := after(24 * time.Hour)
	err := r.Restore([]Ban{
		{Client: client(t, "203.0.113.1"), Offenses: 1},                                  // exempt
		{Client: client(t, "203.0.113.2"), Until: start.Add(-time.Second), Offenses: 3},  // too old
		{Client: client(t, "203.0.113.3"), Until: after(2 * time.Hour), Offenses: 3},     // one too many
		{Client: client(t, "203.0.113.4"), Until: start, Offenses: 3},                    // one too many, older
		{Client: client(t, "203.0.113.5"), Offenses: 1},                                  // permanent
		{Client: client(t, "203.0.113.6"), Until: after(25 * time.Hour), Offenses: 1},    // running
		{Client: client(t, "203.0.113.7"), Until: after(25 * time.Hour)},                 // running, beyond the limit
		{Client: client(t, "10.0.0.0/8"), Until: after(time.Hour), Offenses: 1},          // a range, over
		{Client: netip.MustParsePrefix("2001:db8:1:2::9/128"), Offenses: 1, Note: "odd"}, // made canonical, beyond the limit
	}, now)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := listed(r, Filter{}, now), "203.0.113.5 2001:db8:1:2::/64 203.0.113.6 203.0.113.7"; got != want {
		t.Errorf("banned are %s, want %s", got, want)
	}
	if forgotten != 2 || len(r.Snapshot(now)) != 4 {
		t.Errorf("%d forgotten, %d known; want 2 and 4", forgotten, len(r.Snapshot(now)))
	}
}

func TestRestoreRefusesWhatCannotBe(t *testing.T) {
	r := registry(t, config())
	err := r.Restore([]Ban{
		{Client: client(t, "203.0.113.1")},
		{Client: netip.Prefix{}},
		{Client: netip.MustParsePrefix("0.0.0.0/0")},
	}, start)
	if !errors.Is(err, ErrBadClient) || !errors.Is(err, ErrTooBroad) || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("error %v, want both problems", err)
	}
	if r.Stats(start).Tracked != 0 {
		t.Error("something was restored beside an error")
	}
}
