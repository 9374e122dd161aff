package app

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/andreimerlescu/concert/h3"
)

// portPause is how long to wait before a port that another process has is tried
// again.
const portPause = 250 * time.Millisecond

// overQUIC is the server of HTTP/3. While another process takes over it stops,
// so that its clients come over TCP, to the other one, which opens the port
// once this one is done with it. When nobody took over, it begins again.
type overQUIC struct {
	app  *App
	addr string         // the UDP address
	conn net.PacketConn // to begin with; nil when the port is to be had later only

	server atomic.Pointer[h3.Server] // nil while there is none
	cut    context.Context           // ended by cutOff: nothing is waited for any more
	cutOff context.CancelFunc
	over   chan struct{} // closed when serve has returned

	mu      sync.Mutex // guards the fields below
	want    quicState
	changed chan struct{} // closed when want changes
}

// quicState is what an overQUIC is to do.
type quicState int

const (
	serving quicState = iota
	resting
	ended
)

// newHTTP3 is the server of visitors over QUIC beside the one at site. conn may
// be nil: then a predecessor still has the port.
func (a *App) newHTTP3(conn net.PacketConn, site net.Addr) *overQUIC {
	q := &overQUIC{app: a, addr: site.String(), conn: conn, over: make(chan struct{}), changed: make(chan struct{})}
	q.cut, q.cutOff = context.WithCancel(context.Background())
	a.quic.Store(q)
	return q
}

// serve serves until it is shut down or closed, with rests. Its error is nil
// then.
func (q *overQUIC) serve() error {
	defer close(q.over)
	for first := q.conn; ; first = nil {
		conn, changed := q.await(first)
		if conn == nil {
			return nil
		}
		server, failed := q.newServer(), make(chan error, 1)
		go func() { failed <- server.Serve(conn) }() // ends with Shutdown
		q.server.Store(server)
		q.app.log.Info("serving HTTP/3", "address", conn.LocalAddr())
		select {
		case err := <-failed:
			return err
		case <-changed:
		}
		q.server.Store(nil)
		grace, cancel := context.WithTimeout(q.cut, q.app.cfg.Load().ShutdownTimeout)
		if err := server.Shutdown(grace); err != nil {
			q.app.log.Warn("connections over QUIC were cut", "error", err)
		}
		cancel()
		<-failed
	}
}

// await waits for a socket to serve on, which may be the one given, and returns
// nil when it is all over. The channel is closed when the socket is to be given
// up.
func (q *overQUIC) await(conn net.PacketConn) (net.PacketConn, <-chan struct{}) {
	for told := false; ; {
		want, changed := q.wanted()
		var again <-chan time.Time // nil, and so never ready, while it rests
		if want == serving {
			socket, err := q.open(conn)
			if err == nil {
				return socket, changed
			}
			if !told {
				q.app.log.Info("HTTP/3 waits for its port", "address", q.addr, "because", err)
				told = true
			}
			again = time.After(portPause)
		} else if conn != nil {
			_ = conn.Close() // nothing was done with it
			conn = nil
		}
		if want == ended {
			return nil, nil
		}
		select {
		case <-again:
		case <-changed:
		}
	}
}

func (q *overQUIC) wanted() (want quicState, changed <-chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.want, q.changed
}

// open returns the socket given; without one, it opens the port.
func (q *overQUIC) open(conn net.PacketConn) (net.PacketConn, error) {
	if conn != nil {
		return conn, nil
	}
	return net.ListenPacket("udp", q.addr)
}

func (q *overQUIC) newServer() *h3.Server {
	c := q.app.cfg.Load()
	return h3.New(h3.Config{
		Handler: q.app.hsts.saying(q.app.pipeline), TLS: q.app.certs.Config(), Guard: q.app.guard,
		Streams: streams(c), HandshakeTimeout: c.ReadHeaderTimeout, IdleTimeout: c.IdleTimeout,
		MaxHeaderBytes: c.MaxHeaderBytes, Log: q.app.log,
	})
}

// become has it do something else from now on. After its end that is nothing.
func (q *overQUIC) become(want quicState) {
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.want == want || q.want == ended {
		return
	}
	q.want = want
	close(q.changed)
	q.changed = make(chan struct{})
}

// shutDown stops accepting and waits for what was accepted.
func (q *overQUIC) shutDown(ctx context.Context) error {
	q.become(ended)
	select {
	case <-q.over:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("shut HTTP/3 down: %w", context.Cause(ctx))
	}
}

// close cuts off whatever is open.
func (q *overQUIC) close() {
	q.become(ended)
	q.cutOff()
}

// advertising tells browsers that come over TLS of the way over QUIC.
func (a *App) advertising(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if q := a.quic.Load(); q != nil && r.TLS != nil {
			if s := q.server.Load(); s != nil {
				if line := s.AltSvc(); line != nil {
					w.Header()["Alt-Svc"] = line
				}
			}
		}
		next.ServeHTTP(w, r)
	})
}
