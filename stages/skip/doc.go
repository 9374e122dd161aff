// Package skip sells places nearer the front of the line: prices, the endpoint
// that a payment flow calls, and passes for those who paid.
//
//	s, err := skip.New(skip.Config{Line: l, Refs: refs, Passes: passes, Ticket: parse, Rate: 0.5, PassTTL: time.Hour})
//	p, err := pipeline.New(cfg, classify, operations, pass, s, queue, …)
//
// The stage stands before the queue stage. Its endpoints, ServePromote and
// ServeQuote, are rows for the operations stage.
//
// # The way of a sale
//
//  1. The waiting page links to the seller's payment page with ref, a signed
//     reference to the visitor's ticket. It names the place and is no key to
//     it: whoever sees it can pay for the place, not take it.
//  2. The payment page asks GET /_room/quote?ref=… what it costs.
//  3. Once the money is there, the seller's server calls POST /_room/promote
//     with the admin token, the ref and the payment's own reference.
//  4. The ticket moves to the front, behind those that were promoted before it
//     and are still there, or to the position asked for. No two tickets ever
//     share a place.
//  5. With Config.PassTTL the visitor gets the cookie room_pass with the next
//     poll or page. Until it expires, a place given to them is at the front.
//
// A payment's reference makes the call idempotent: repeating it answers as the
// first time and moves nobody. So a payment provider may deliver its webhook as
// often as it likes.
//
// # Prices
//
// A place costs Rate, plus Surge for each ticket in line. Going from position n
// to the front costs n-1 places. The currency is the seller's affair, and so is
// holding on to a price once it was quoted.
//
// # Concurrency and limits
//
// A Stage is safe for concurrent use. The last [MaxSales] payments and passes
// to be delivered are remembered; Config.Sold and Stage.Restore carry them over a
// restart, and to other instances. One that has not heard of a payment carries it
// out again, which moves a ticket to where it is already.
//
// # Passes
//
// A room_pass is bound to its owner: to the ticket that was paid for, to the
// address it was last used from, and to the admission pass of that browser. A
// visit that has one of the three has the pass. As the owner goes about, the
// pass is bound anew. Whoever else shows it counts as having none.
//
// One pass has one place in line at a time. While a place that it was used for
// is in line, a request that shows the pass without that place's ticket gets a
// place at the end. Stats.Shared counts both, and the log names the pass once.
package skip
