// Package concert is the map of the tree; the program is in cmd/concert.
//
// Concert is a waiting room in front of any web site: a reverse proxy that lets
// at most cap page requests through to the origin at once, and keeps everybody
// else in a fair line. A request goes through an ordered slice of stages; the
// line decides whose turn it is. Read README.md first, docs/architecture.md
// next, app/stages.go for the way of a request, then the package comments in
// this order:
//
//	pipeline    the ordered slice of stages, one visit's state, refusals
//	line        the contract of a waiting line; line/memory keeps one in memory,
//	            line/linetest is the suite that every implementation passes
//	stages      one folder per stage: HTTP in, decisions out
//	upstream    the proxy: transport, header hygiene, the origin's errors
//	portal      the operators' listener: access, sessions, API; portal/view is
//	            what they see
//	gate        off-site rooms beside a site: the contract; gate/memory and
//	            gate/redis keep them, gate/token signs, gate/api is the HTTP side
//	app         the composition root: from a config to a running server
//	config      one table of settings for flags, environment and documents
//	cmd/concert flags, signals, subcommands
//
// Beneath them, each of use by itself:
//
//	certs       certificates from files and by ACME, and TLS with them
//	clientip    who the client is, and what the origin is told of it
//	cookies     Concert's own cookies: read, set, taken out of what is forwarded
//	paths       one canonical reading of a request's path; longest match
//	rooms       parts of a site with a line of their own, by host and path
//	signed      signed tokens with rotating keys
//	listener    connections: counted, bounded, introduced by a proxy
//	h3          HTTP/3 over QUIC
//	abuse       who misbehaved, who is banned; abuse/api is for operators
//	slots       a resizable counting gate with fair waiting
//	ipinfo      who owns an address, from a file or a service
//	history     who asked for what, and who was banned for it
//	hosts       which host names are the site's
//	fleet       what instances tell each other beside a shared line
//	persist     files that survive a crash: settings, bans, the line
//	handover    a new process in place of a running one, sockets kept
//	metrics     counters for Prometheus, collected at scrape time
//	internal    helpers, and the machinery of tests
//
// Around them:
//
//	demo        an origin and a crowd, for concert demo
//	blackbox    the built binary seen from outside, with real programs around it
//	bench, fuzz benchmarks and fuzz targets that span packages
//	examples    Concert embedded in programs of one's own
//	deploy      installer, units, fronts, alerts, containers (a module of its own)
//	tools       the versions of what checks, measures and packs (a module of its own)
//
// Imports only go downwards; rules_test.go says how, and what else is a rule
// of this house.
package concert
