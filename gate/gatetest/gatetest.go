package gatetest

import (
	"testing"

	"github.com/andreimerlescu/concert/gate"
)

// Crowd is how many people join in the largest simulation, and Small the same
// for stores that take a tenth of a millisecond for each.
const (
	Crowd = 20_000
	Small = 1_000
)

// Run checks the contract, with a crowd of Crowd or Small.
func Run(t *testing.T, crowd int, open New) {
	for _, c := range []struct {
		name string
		set  func(*gate.Room)
		play func(*rig)
	}{
		{"keeps rooms", nil, keepsRooms},
		{"refuses bad rooms", nil, refusesBadRooms},
		{"keeps messages", nil, keepsMessages},
		{"keeps an audit", nil, keepsAudit},
		{"gives positions", nil, givesPositions},
		{"admits at the inflow", func(r *gate.Room) { r.Inflow, r.Burst = 3, 2 }, admitsAtInflow},
		{"banks no more than a burst", func(r *gate.Room) { r.Inflow, r.Burst = 10, 5 }, banksABurst},
		{"is exact however it is asked", func(r *gate.Room) { r.Inflow, r.IntervalSec = 7, 60 }, exactHoweverAsked},
		{"pauses", func(r *gate.Room) { r.Inflow = 10 }, pauses},
		{"changes the rate", func(r *gate.Room) { r.Inflow = 10 }, changesRate},
		{"opens the gates", nil, opensGates},
		{"resets", nil, resets},
		{"closes", nil, closes},
		{"burns tokens", nil, burnsTokens},
		{"resumes", nil, resumes},
		{"exchanges once", func(r *gate.Room) { r.AccessTTLSec = 60 }, exchangesOnce},
		{"ends tickets", func(r *gate.Room) { r.QueueTTLSec = 60 }, endsTickets},
		{"keeps the cap", func(r *gate.Room) { r.Inflow, r.Burst, r.Cap, r.AccessTTLSec = 100, 100, 2, 300 }, keepsCap},
		{"gives late ones the next seat", func(r *gate.Room) { r.Inflow, r.Burst, r.Cap, r.AccessTTLSec = 100, 100, 1, 30 }, seatsLateOnes},
		{"counts", nil, counts},
		{"spends ids once", nil, spendsOnce},
		{"keeps rooms apart", nil, keepsApart},
		{"takes a crowd", func(r *gate.Room) { r.Inflow, r.Burst = crowd/40, crowd/40 }, func(r *rig) { takesACrowd(r, crowd) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.play(newRig(t, open, c.set))
		})
	}
}
