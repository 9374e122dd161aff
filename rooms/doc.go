// Package rooms is the list of inline rooms: parts of a site, told by host and
// path, that have a waiting line of their own.
//
//	set, err := rooms.Parse(`[{"id":"checkout","paths":["/checkout/*"],"cap":20}]`)
//	set.Find(r.Host, paths.Canonical(r.RequestURI)) // "checkout", or "" for the default room
//
// # Which room
//
// A room with hosts and paths takes the requests that fit both; without hosts
// it is about every name of the site, without paths about every path. The first
// room of the list that fits is the one. A path is in a room when any reading of
// it is, whatever the capitals: no spelling leads around a room's line.
//
// # Concurrency and limits
//
// A Set does not change once it is in use, so all of it is safe for concurrent
// use. Finding costs time in proportion to the rooms, of which there are at most
// [Max], and allocates nothing.
package rooms
