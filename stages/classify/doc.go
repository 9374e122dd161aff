// Package classify decides which tier a request belongs to.
//
// # Usage
//
//	s, err := classify.New(classify.Config{
//		Table:       table, // *paths.Table[pipeline.Class]
//		ProtoHeader: "X-Client-Proto",
//	})
//
// The stage sets the visit's class from its canonical path: one of Concert's
// own paths, a listed one, or else a page. It sets the inline room that host and
// path are in, and the protocol family, by which a pass's share of the asset
// tier is measured, from what a trusted proxy says about its client, or else
// from the connection itself.
//
// # What it turns away
//
// Requests that no rule can be held against, so that nothing behind this stage
// need think of them:
//
//   - CONNECT, since Concert is no forward proxy: 405;
//   - a target without a readable path: 400. OPTIONS for * asks the server as
//     a whole (RFC 9110, section 9.3.7) and is answered here;
//   - no host, one that cannot be a host, or, on HTTP/2, a Host header that
//     contradicts the :authority (RFC 9113, section 8.3.1): 400. An origin that
//     builds links from the host would otherwise show its internal address.
//     Concert's own paths do without one: simple health checks send none;
//   - a host that is not among Config.Hosts, where there are any: 421. Concert's
//     own paths are answered by every name.
//
// A 400 ends an HTTP/1 connection: what follows a malformed request cannot be
// trusted to be another one.
//
// # Concurrency and limits
//
// A Stage is safe for concurrent use and allocates nothing for a request it
// lets through. Apply replaces its configuration between two requests.
package classify
