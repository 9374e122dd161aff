package view

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestWhy: what stands in the way, in the order in which it tells most.
func TestWhy(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	f := func(s Status, change func(*QueueRow), want ...string) {
		t.Helper()
		var r QueueRow
		r.Position, r.LastSeen, r.ETA = 3, now, time.Minute
		change(&r)
		got := why(s, r, now)
		if !slices.EqualFunc(got, want, strings.HasPrefix) {
			t.Errorf("%q, want sentences that begin with %q", got, want)
		}
	}
	open := Status{Room: "open", Cap: 5, InFlight: 4, Admissions: 2}
	full, stuck := open, open
	full.InFlight, stuck.Admissions = 5, 0
	as := func(*QueueRow) {}
	f(open, as, "2 visitors are ahead", "At 2")
	f(full, as, "2 visitors are ahead", "All 5 slots", "At 2")
	f(open, func(r *QueueRow) { r.Position = 2 }, "1 visitor is ahead", "At 2")
	f(open, func(r *QueueRow) { r.Position, r.Promoted = 1, true }, "They are next", "At 2", "They have been moved up")
	f(open, func(r *QueueRow) { r.AtDoor = true }, "Their request stands at the door", "2 visitors")
	f(open, func(r *QueueRow) { r.Ready = true }, "They have been told to come", "2 visitors")
	f(open, func(r *QueueRow) { r.Absent = true }, "Their browser has not asked for", "2 visitors")
	f(open, func(r *QueueRow) { r.Absent, r.LastSeen = true, time.Time{} }, "Their browser has never asked", "2 visitors")
	f(stuck, func(r *QueueRow) { r.ETA = -1 }, "2 visitors", "Nobody is being let in")
	f(Status{Room: "paused", Cap: 5}, as, "Admissions are paused", "2 visitors")
	f(Status{Room: "closed", Cap: 5}, as, "The room is closed", "2 visitors")
}
