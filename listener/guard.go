package listener

import (
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/andreimerlescu/concert/clientip"
)

// Config is what a Guard goes by.
type Config struct {
	// MaxConns is the most connections at once; 0 sets no limit.
	MaxConns int
	// MaxPerClient is the most of one client at once, by the key of package
	// clientip; 0 sets no limit.
	MaxPerClient int
	// ProxyProtocol has connections of Proxies begin with a PROXY header.
	ProxyProtocol bool
	// HeaderTimeout is how long that header may take; 0 sets no limit.
	HeaderTimeout time.Duration
	// Proxies stand for many clients each; nil for none.
	Proxies *clientip.Trust
	// Allow are always let in; nil for none.
	Allow *clientip.Trust
	// Streams is how many requests a connection may have under way at once. A
	// client may take back several times as many at a moment.
	Streams int
	// Log is told, once in a while, that connections are refused; nil for
	// nobody.
	Log *slog.Logger
}

// Guard counts connections and decides on them. Use New.
type Guard struct {
	cfg     atomic.Pointer[Config]
	refused [numRefusals]atomic.Uint64
	shed    atomic.Uint64
	resets  atomic.Uint64
	told    [numRefusals]atomic.Int64 // when Log was last told, in Unix nanoseconds

	mu      sync.Mutex // guards the fields below, and the key of every entry
	entries map[*entry]struct{}
	clients map[netip.Prefix]int // connections by client; no zeros
}

// New returns a guard that goes by c.
func New(c Config) *Guard {
	g := &Guard{entries: make(map[*entry]struct{}), clients: make(map[netip.Prefix]int)}
	g.Apply(c)
	return g
}

// Apply replaces the configuration. Connections that are open stay, also when
// there may be fewer now.
func (g *Guard) Apply(c Config) {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	g.cfg.Store(&c)
}

// Wrap returns ln with every connection under the guard. Several listeners may
// share a guard.
func (g *Guard) Wrap(ln net.Listener) net.Listener { return &guarded{Listener: ln, guard: g} }

// guarded is a listener under a guard.
type guarded struct {
	net.Listener
	guard *Guard
}

// Accept waits for a connection that the guard lets in.
func (l *guarded) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if conn := l.guard.accept(c); conn != nil {
			return conn, nil
		}
		_ = c.Close() // nothing was said on it
	}
}

// accept returns the connection to serve, or nil when it is refused.
func (g *Guard) accept(c net.Conn) *guardedConn {
	cfg := g.cfg.Load()
	peer := addrOf(c.RemoteAddr())
	conn := &guardedConn{Conn: c, guard: g}
	conn.entry.close = c.Close
	conn.prepare()
	if cfg.ProxyProtocol && cfg.Proxies.Contains(peer) {
		conn.introduced = new(introduction)
	}
	if why := g.enter(&conn.entry, peer); why != notRefused {
		g.refuse(cfg, why, peer)
		return nil
	}
	return conn
}

// addrOf returns the IP address of one end of a connection; the zero Addr when
// it has none.
func addrOf(a net.Addr) netip.Addr {
	switch a := a.(type) {
	case *net.TCPAddr:
		return a.AddrPort().Addr().WithZone("").Unmap()
	case *net.UDPAddr:
		return a.AddrPort().Addr().WithZone("").Unmap()
	}
	return netip.Addr{}
}

// tellEvery is the pause between two log lines about the same kind of refusal.
const tellEvery = time.Minute

// refuse counts a refused connection.
func (g *Guard) refuse(cfg *Config, why refusal, client netip.Addr) {
	g.refused[why].Add(1)
	now := time.Now().UnixNano()
	if last := g.told[why].Load(); now-last < int64(tellEvery) || !g.told[why].CompareAndSwap(last, now) {
		return
	}
	cfg.Log.Warn("connections are refused", "reason", why.String(), "client", client, "remedy", remedies[why])
}
