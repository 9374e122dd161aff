package handover

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// freshGrace is how long Shutdown waits for the first request on connections
// that were accepted already. Browsers open some that they never use.
const freshGrace = time.Second

// Conns knows which connections of a server have not had a request yet.
//
// http.Server.Shutdown by itself drops them: a request that is read once the
// shutdown has begun gets no answer, not even on a connection that was
// accepted a moment before, and no client may take that for a closed idle
// connection and try again. Shutdown of this type lets them have theirs.
type Conns struct {
	srv *http.Server

	mu    sync.Mutex // guards the fields below
	fresh map[net.Conn]*freshConn
	empty chan struct{} // closed when fresh runs empty; nil when nobody waits
}

// freshConn is a connection from its acceptance to its end.
type freshConn struct {
	conn   net.Conn
	served atomic.Bool // its first request has begun
}

type freshKey struct{}

// Watch begins to watch a server: it wraps the handler and the hooks that are
// set. Call it before the server serves.
func Watch(srv *http.Server) *Conns {
	c := &Conns{srv: srv, fresh: make(map[net.Conn]*freshConn)}
	handler, connContext, connState := srv.Handler, srv.ConnContext, srv.ConnState
	if handler == nil {
		handler = http.DefaultServeMux
	}
	srv.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f, ok := r.Context().Value(freshKey{}).(*freshConn); ok && !f.served.Load() {
			c.begun(f)
		}
		handler.ServeHTTP(w, r)
	})
	srv.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		if connContext != nil {
			ctx = connContext(ctx, conn)
		}
		return context.WithValue(ctx, freshKey{}, c.accepted(conn))
	}
	srv.ConnState = func(conn net.Conn, state http.ConnState) {
		if state == http.StateClosed || state == http.StateHijacked {
			c.gone(conn)
		}
		if connState != nil {
			connState(conn, state)
		}
	}
	return c
}

func (c *Conns) accepted(conn net.Conn) *freshConn {
	f := &freshConn{conn: conn}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fresh[conn] = f
	return f
}

func (c *Conns) begun(f *freshConn) {
	if !f.served.Swap(true) {
		c.gone(f.conn)
	}
}

func (c *Conns) gone(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.fresh, conn)
	if len(c.fresh) == 0 && c.empty != nil {
		close(c.empty)
		c.empty = nil
	}
}

// Shutdown stops the server like http.Server.Shutdown, after every connection
// that was accepted has had its first request, or a second has passed. Stop
// accepting first: after Upgrade that is so, otherwise by [Process.Pause].
func (c *Conns) Shutdown(ctx context.Context) error {
	c.srv.SetKeepAlivesEnabled(false) // ends idle ones, and the others after their next answer
	c.mu.Lock()
	var empty chan struct{}
	if len(c.fresh) > 0 {
		empty = make(chan struct{})
		c.empty = empty
	}
	c.mu.Unlock()
	if empty != nil {
		grace := time.NewTimer(freshGrace)
		defer grace.Stop()
		select {
		case <-empty:
		case <-grace.C:
		case <-ctx.Done():
		}
	}
	return c.srv.Shutdown(ctx)
}
