// Package h3 serves HTTP/3 (RFC 9114) over QUIC, under the same guard of
// connections as the other protocols.
//
//	s := h3.New(h3.Config{Handler: h, TLS: cfg, Guard: g, …})
//	go s.Serve(udp)                    // until Shutdown or Close
//	w.Header()["Alt-Svc"] = s.AltSvc() // on the other protocols
//	s.Shutdown(ctx)
//
// # Limits
//
// A connection counts with the guard once its handshake is done, so only a
// client that can be answered counts. Of handshakes under way there are at
// most maxShaking; from checkFrom of them on, a client first has to prove that
// it can be reached at its address (Retry, RFC 9000, section 8.1.2).
//
// 0-RTT is off: what comes that early can be sent again by whoever recorded
// it. Neither WebSockets over HTTP/3 (RFC 9220) nor datagrams are offered.
//
// # Ending
//
// Shutdown says GOAWAY: what is under way is finished, what comes is refused
// in a way that a client may try again on another connection. A UDP socket is
// not handed to another process: packets of one connection would reach either
// of the two. The successor opens it when the predecessor is done with it, and
// until then browsers use TCP.
//
// # Concurrency
//
// A Server is safe for concurrent use. Serve has a goroutine for each
// connection and each request, which end with the connection.
package h3
