// Package listener stands between the network and the server: it says who a
// connection is from, how many there may be, and which one makes room for
// another.
//
//	g := listener.New(listener.Config{MaxConns: 30000, Proxies: trusted, ProxyProtocol: true, …})
//	srv := &http.Server{ConnState: g.State, ConnContext: g.Context, …}
//	srv.Serve(g.Wrap(ln))                        // plain HTTP
//	srv.Serve(tls.NewListener(g.Wrap(ln), cfg)) // TLS
//
// # Who it is
//
// With ProxyProtocol, connections of the peers in Proxies begin with a PROXY
// header (haproxy.org/download/2.9/doc/proxy-protocol.txt), version 1 or 2, and
// are taken for connections of the address in it. The header is demanded, not
// guessed: a proxy that passed on what its client sends could otherwise be made
// to say anything. Peers that are not in Proxies are served under their own
// address, and to them a PROXY header is a bad request. LOCAL and UNKNOWN keep
// the proxy's own address; what follows the addresses (TLVs) is skipped, its
// checksum unread. A malformed header, or none within HeaderTimeout, ends the
// connection.
//
// The header is read on the connection's own goroutine, when the server first
// asks for the address or for bytes, so a slow one holds up nobody else.
//
// # How many
//
// MaxPerClient bounds the open connections of one IPv4 address or IPv6 /64;
// one too many is closed at once. It does not bind Proxies, which stand for
// many people, nor Allow. MaxConns bounds all of them. At that many, room is
// made: of the connections that are only waiting, for their first request or
// the next, some are closed, those of the clients with the most connections
// first, and among equals those that wait longest. Who sends headers slowly,
// or opens connections to keep them, pays for it that way. When none waits, and
// a client has more than a 64th of the connections and no fewer than 32, busy
// ones of it are closed, those that have been busy longest first: it may send
// bodies slowly, or read nothing. Anybody else who is being answered is never
// cut. Only when there is nobody to close is the newcomer refused. Connections of
// Proxies are counted and not closed for others, those of Allow are accepted
// whatever the count.
//
// Connections that another process has accepted, before a hand-over, are not
// counted.
//
// # What else it does
//
// On plain connections a request header that does not come in time is answered
// 408. A connection over HTTP/2 or HTTP/3 whose client takes back too many
// requests can be told so, and closed, by [Reset]. On plain connections over
// HTTP/1 a handler can have an answer leave in one piece, and put fields into its
// header, without net/http's server: see [Plain].
//
// # Deadlines, and leaving
//
// A server sets nine deadlines for each request. They are kept here, and the
// connection's own is set only when it would come too late, so that setting one
// costs next to nothing. A client's leaving is looked out for when a request has
// been under way for a tenth of a second, on plain connections over HTTP/1.
//
// # Concurrency
//
// A Guard is safe for concurrent use. Accepting and closing take one lock;
// serving takes none.
package listener
