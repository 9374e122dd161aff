// Package gate defines off-site rooms: waiting rooms beside a site instead of
// in front of it. A visitor of the site is sent to the room, waits, and comes
// back with a signed token that the site checks by itself.
//
// This package is the contract: what a room is, what a [Store] of rooms does.
// The parts are
//
//	gate/memory     the store of one process, saved in the data directory
//	gate/redis      the store of several, in Redis or Valkey
//	gate/gatetest   the conformance suite that every store passes
//	gate/token      keys, queue tokens, access tokens, the published key set
//	gate/api        the HTTP side: queue API, operator API, waiting page
//	gate/protect    middleware for the protected site
//	gate/target     an example of such a site
//
// # The counter
//
// Joining takes the next ticket number. A second number, admitted, follows at
// the room's inflow; whoever's ticket it has reached is let in. So a position
// is ticket - admitted, and every operation costs the same whatever the length
// of the line.
//
// Admission is not driven by a clock: each call computes what the time since
// the last one allows, exactly, in whole permits and their remainder. At most
// Burst permits are ever saved, while nobody waits or no place on the site is
// free; while a room is paused or closed, or its process is down, none are
// earned.
//
// # Concurrency
//
// A Store is safe for concurrent use. Times are arguments, so that tests step
// through them; times that run backwards count as the latest time seen.
package gate
