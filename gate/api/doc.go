// Package api is the HTTP side of off-site rooms.
//
//	public, err := api.NewPublic(config)  // queue API, key set, waiting page
//	operators := api.NewOperators(config) // rooms, actions, messages, statistics
//
// The two are separate handlers, for separate listeners: visitors never reach
// the operators' one. docs/gate.md describes paths and fields.
//
// # Answers
//
// Everything but the waiting page is JSON. What is refused is answered with
// {"error": …, "code": …}: the text for people, the code for programs.
//
// # Limits
//
// Bodies are bounded by [MaxBody]. Each address may join and ask so often,
// see [Limits]; IPv6 addresses count by their /64.
//
// # Concurrency
//
// Handlers are safe for concurrent use and start no goroutines.
package api
