package linetest

import (
	"testing"
	"time"

	"github.com/andreimerlescu/concert/line"
)

// New makes an empty line with the given settings, whose time begins at
// start. What it opens, it closes with t.Cleanup.
type New func(t *testing.T, s line.Settings, start time.Time) line.Line

// Run runs the suite as subtests of t, each on lines of its own.
func Run(t *testing.T, newLine New) {
	for _, tt := range []struct {
		name string
		test func(*testing.T, New)
	}{
		{"CapIsKept", testCap},
		{"SlotsComeBackOnce", testReleaseOnce},
		{"CapShrinksAndGrows", testResize},
		{"RateIsExact", testRate},
		{"PausedAndClosed", testModes},
		{"EstimatesOutliveAStall", testStall},
		{"DoorIsServedInOrder", testDoorOrder},
		{"DoorIsLeft", testDoorLeave},
		{"DoorIsShared", testDoorShared},
		{"TicketAdmitsOnce", testOnce},
		{"PlacesAreKept", testPlaces},
		{"AbsentAreSkippedNotLost", testAbsent},
		{"CalledWhoStayAwayHoldNothing", testNoShow},
		{"GlancesTakeNothing", testNoPlace},
		{"Limits", testLimits},
		{"Lifetimes", testLifetimes},
		{"RanksHaveAHeadStart", testRankLead},
		{"RanksOvertakeAtTheDoor", testRankOvertakesAtTheDoor},
		{"RanksKeepTheirBounds", testRankBounds},
		{"Promote", testPromote},
		{"PromoteToTheFront", testFront},
		{"HowTicketsEnded", testEnded},
		{"Remove", testRemove},
		{"RemoveClients", testRemoveClients},
		{"List", testList},
		{"LookChangesNothing", testLook},
		{"SnapshotAndRestore", testRestore},
		{"OrderAfterARestart", testOrderAfterRestart},
		{"RanksAreRestored", testRestoreRanks},
		{"DowntimeIsCharged", testDowntime},
		{"ReturnAfterCrash", testReturn},
		{"Counters", testCounters},
		{"Crowd", testCrowd},
		{"Concurrent", testConcurrent},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.test(t, newLine) })
	}
}

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func settings(slots int) line.Settings {
	return line.Settings{
		Policy:         line.Policy{Cap: slots},
		TTL:            5 * time.Minute,
		FirstPollGrace: 30 * time.Second,
		Sweep:          36 * time.Second,
		DoorMax:        1000,
		DoorWait:       3 * time.Second,
	}
}

// room is a line under test and its time.
type room struct {
	t   *testing.T
	l   line.Line
	now time.Time
	set line.Settings
}

func open(t *testing.T, newLine New, s line.Settings) *room {
	t.Helper()
	return &room{t: t, l: newLine(t, s, epoch), now: epoch, set: s}
}

// must fails the test on an error of the line.
func (r *room) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// pass lets time pass, calling Advance when the line wants it.
func (r *room) pass(d time.Duration) {
	r.t.Helper()
	end := r.now.Add(d)
	Pass(r.t, r.l, r.now, end)
	r.now = end
}

// Pass lets time go by for l, from one time to another, in which it is called as
// often as it asks.
func Pass(t testing.TB, l line.Line, from, to time.Time) {
	t.Helper()
	now := from
	for range 100_000 {
		next, err := l.Advance(t.Context(), now)
		if err != nil {
			t.Fatal(err)
		}
		if next.IsZero() || next.After(to) {
			if now.Equal(to) {
				return
			}
			next = to
		}
		if next.After(now) {
			now = next
		}
	}
	t.Fatalf("Advance asks to be called again without end at %v", now)
}
