// Package fleet shows how a crowd fares in front of several instances that
// share one line on Redis, while instances and Redis fail.
//
//	report := fleet.Run(tb, binary, fleet.Scenario{Instances: 3, Visitors: 5000, Cap: 60, Faults: …})
//
// A balancer sends each request to any instance, as a plain load balancer does,
// and to another one when a connection fails. The origin counts how many pages
// it has at once, and in what order visitors came in.
//
// A fault lasts from its beginning until the origin is nine tenths full again,
// over a second; the report tells how long that took. Utilisation is of the rest
// of the time, up to when fewer visitors are left than there are slots.
//
// Everything runs on one machine and ends with the test: on loopback addresses,
// with a relay between each instance and Redis, or, with Scenario.Network, in
// network namespaces, where an instance is cut off as by a cable that is pulled.
// Those take root; without it, relays stand in for them, and the report says so.
package fleet
