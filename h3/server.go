package h3

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"github.com/andreimerlescu/concert/listener"
)

// Config is what a Server is made of. All but Log is needed.
type Config struct {
	Handler http.Handler
	// TLS has the certificates; at least version 1.3 is spoken.
	TLS   *tls.Config
	Guard *listener.Guard
	// Streams is the most requests at once on one connection.
	Streams int
	// HandshakeTimeout bounds the handshake, IdleTimeout the time a connection
	// may be without a request.
	HandshakeTimeout, IdleTimeout time.Duration
	MaxHeaderBytes                int
	// Log is told what goes wrong; nil for nobody.
	Log *slog.Logger
}

// Limits that need no setting.
const (
	maxShaking = 4096 // handshakes under way; beyond that, none begins
	checkFrom  = 64   // from so many on, addresses have to be proved
	// stalled is how long the other side may be silent, down to its packets.
	stalled = 30 * time.Second
	altAge  = 24 * time.Hour // how long browsers remember the way here
	// tail is how long the last of an answer may take to arrive: closing a
	// connection drops what has not.
	tail = time.Second
)

// excessiveLoad is why a connection is refused (RFC 9114, section 8.1).
const excessiveLoad = quic.ApplicationErrorCode(http3.ErrCodeExcessiveLoad)

var errBusy = errors.New("h3: too many handshakes are under way")

// Server serves HTTP/3. Use New.
type Server struct {
	cfg     Config
	http    *http3.Server
	shaking atomic.Int64
	altSvc  atomic.Pointer[[]string] // nil while it does not serve
	end     sync.Once
	over    chan struct{} // closed when nothing is open any more

	mu       sync.Mutex // guards the fields below
	open     map[*quic.Conn]*listener.Peer
	farewell bool // connections without requests are closed
}

// New returns a server that does not serve yet.
func New(cfg Config) *Server {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{cfg: cfg, over: make(chan struct{}), open: make(map[*quic.Conn]*listener.Peer)}
	s.http = &http3.Server{
		Handler:        http.HandlerFunc(s.handle),
		MaxHeaderBytes: cfg.MaxHeaderBytes,
		IdleTimeout:    cfg.IdleTimeout,
		ConnContext: func(ctx context.Context, c *quic.Conn) context.Context {
			if a := arrivalOf(c); a != nil && a.peer != nil {
				return a.peer.Context(context.WithValue(ctx, peerKey{}, a.peer))
			}
			return ctx
		},
	}
	return s
}

// Serve serves on the socket until Shutdown or Close, and closes it; its error
// is nil then.
func (s *Server) Serve(conn net.PacketConn) error {
	defer func() { _ = conn.Close() }() // it has served its purpose
	transport := &quic.Transport{
		Conn:                conn,
		VerifySourceAddress: func(net.Addr) bool { return s.shaking.Load() >= checkFrom },
		ConnContext:         s.arrive,
	}
	defer func() { _ = transport.Close() }() // as above
	ln, err := transport.Listen(http3.ConfigureTLSConfig(s.cfg.TLS), &quic.Config{
		HandshakeIdleTimeout: s.cfg.HandshakeTimeout,
		MaxIdleTimeout:       stalled,
		MaxIncomingStreams:   int64(s.cfg.Streams),
	})
	if err != nil {
		return fmt.Errorf("listen for QUIC on %s: %w", conn.LocalAddr(), err)
	}
	if udp, ok := conn.LocalAddr().(*net.UDPAddr); ok {
		s.altSvc.Store(&[]string{`h3=":` + strconv.Itoa(udp.Port) + `"; ma=` + strconv.Itoa(int(altAge.Seconds()))})
	}
	defer s.altSvc.Store(nil)
	if err := s.http.ServeListener(&guarded{ln, s}); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve HTTP/3 on %s: %w", conn.LocalAddr(), err)
	}
	_ = ln.Close() // no more handshakes; the connections go on until they are done
	<-s.over
	return nil
}

type (
	peerKey    struct{}
	arrivalKey struct{}
)

// arrival is a connection from its first packet on.
type arrival struct {
	peer *listener.Peer // set once it is accepted
	done func()         // the handshake is over
}

func arrivalOf(c *quic.Conn) *arrival {
	a, _ := c.Context().Value(arrivalKey{}).(*arrival)
	return a
}

// arrive is called for every new connection. ctx ends with it.
func (s *Server) arrive(ctx context.Context, _ *quic.ClientInfo) (context.Context, error) {
	if s.shaking.Add(1) > maxShaking {
		s.shaking.Add(-1)
		return nil, errBusy
	}
	a := &arrival{done: sync.OnceFunc(func() { s.shaking.Add(-1) })}
	context.AfterFunc(ctx, a.done)
	return context.WithValue(ctx, arrivalKey{}, a), nil
}

// guarded is a listener whose connections are under the guard.
type guarded struct {
	*quic.Listener
	server *Server
}

// Accept waits for a connection that the guard lets in.
func (g *guarded) Accept(ctx context.Context) (*quic.Conn, error) {
	for {
		c, err := g.Listener.Accept(ctx)
		if err != nil {
			return nil, err
		}
		a := arrivalOf(c)
		a.done()
		a.peer = g.server.cfg.Guard.Enter(c.RemoteAddr(), func() error {
			go c.CloseWithError(excessiveLoad, "") // it takes locks; ends with the connection
			return nil
		})
		if a.peer != nil {
			g.server.opened(c, a.peer)
			return c, nil
		}
		_ = c.CloseWithError(excessiveLoad, "") // it is refused either way
	}
}

// opened notes a connection until its end.
func (s *Server) opened(c *quic.Conn, p *listener.Peer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[c] = p
	context.AfterFunc(c.Context(), func() {
		p.Leave()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.open, c)
	})
}

// handle has the guard know which connections are only waiting.
func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	if p, ok := r.Context().Value(peerKey{}).(*listener.Peer); ok {
		p.Begin()
		defer func() {
			if p.End(); p.Idle() {
				s.mu.Lock()
				defer s.mu.Unlock()
				if s.farewell {
					time.AfterFunc(tail, s.bidFarewell)
				}
			}
		}()
	}
	s.cfg.Handler.ServeHTTP(w, r)
}

// bidFarewell closes the connections on which nothing is under way: clients
// that were told to go may keep them open.
func (s *Server) bidFarewell() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.farewell = true
	for c, p := range s.open {
		if p.Idle() {
			go c.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "") // it takes locks; ends with the connection
		}
	}
}

// AltSvc is the header value that tells browsers of this server (RFC 7838);
// nil while it does not serve. It is shared: do not change it.
func (s *Server) AltSvc() []string {
	if v := s.altSvc.Load(); v != nil {
		return *v
	}
	return nil
}

// Shutdown stops accepting, and waits until what is under way is done or ctx
// ends; then the rest is cut off, and the error is that of ctx.
func (s *Server) Shutdown(ctx context.Context) error {
	defer s.end.Do(func() { close(s.over) })
	s.altSvc.Store(nil)
	closing := time.AfterFunc(tail, s.bidFarewell)
	defer closing.Stop()
	if err := s.http.Shutdown(ctx); err != nil {
		return fmt.Errorf("end the connections over QUIC: %w", err)
	}
	return nil
}

// Close cuts off whatever is open.
func (s *Server) Close() error {
	defer s.end.Do(func() { close(s.over) })
	return s.http.Close()
}
