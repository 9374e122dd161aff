// Package upstream carries a visit to the origin and the answer back, byte for
// byte.
//
//	proxy, err := upstream.New(upstream.Config{Upstream: u, PreserveHost: true, HeaderTimeout: 30 * time.Second})
//	p, err := pipeline.New(pipeline.Config{Origin: proxy, …}, stages...)
//
// # What is changed, and nothing else
//
// Towards the origin: the hop-by-hop fields (RFC 9110, section 7.6.1) go, those
// named in Connection included; Concert's own cookies and headers go; the
// forwarding headers are written by the trust rule of package clientip; Host
// is the visitor's or the origin's, as configured; the upstream's path is put
// in front of the target. Towards the visitor: the hop-by-hop fields go, the
// visit's response editors have their say, and fields with which the origin
// speaks to Concert go. The request target, every other header value, bodies,
// trailers and informational answers pass as they came. The limits of net/http
// apply: header names are written in canonical case, in no particular order,
// and the reason phrase is the standard one.
//
// # Time
//
// Whoever is waited for has a deadline: the origin for its header and then for
// each piece of its body, the visitor for sending its body and for reading the
// answer. Time in which one side is waited for does not count against the
// other. A visitor must send 1 KiB, or finish, within each BodyTimeout of
// waiting, and take each piece of up to 32 KiB within WriteTimeout.
//
// # Failures
//
// Before the response has begun a failure is a refusal: 502 when the origin
// cannot be reached or talks nonsense, 504 when it is too slow, 413 and 408
// for the visitor's own body. Afterwards the connection is cut, so that a
// truncated answer never looks like a whole one. What may have been carried
// out is never sent twice: only GET, HEAD, OPTIONS and TRACE without a body are
// repeated, and only on a connection the origin had closed meanwhile.
//
// # Concurrency
//
// A Proxy is safe for concurrent use.
//
// # Two ways to the origin
//
// An https origin, which may speak HTTP/2, and an h2c origin, which does, are
// reached through net/http's Transport. For an http origin there is a client of
// our own, since of what the Transport costs most is handing each request to two
// goroutines and back. Ours does the whole exchange on the goroutine that serves
// the visitor; only a request body gets one of its own, so that an answer can
// come before it is sent. The target leaves byte for byte; net/http must
// percent-encode odd bytes behind a leading "//".
//
// The client reads answers strictly. Lengths that disagree, a length beside
// chunks, encodings other than chunked, bare LFs, folded lines and control
// characters are a 502. A connection is reused only after it has been looked
// at: one that the origin has closed, or on which it has said something
// unasked, is not. Where a connection cannot be looked at (Windows), the
// Transport serves http origins, too.
//
// A visitor's leaving is looked out for once an exchange has lasted for a
// tenth of a second. From then on it ends our direction of the connection to the
// origin. An origin that has not begun to answer may be working on the page all
// the same, so a visit that holds slots waits until it answers, closes the
// connection or has had HeaderTimeout; in all other cases the connection is
// closed at once. net/http's client cannot end our direction alone: there the
// origin hears of it with its answer.
package upstream
