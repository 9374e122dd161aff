package upstream

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// client speaks HTTP/1.1 to an http origin on the goroutine of whoever asks.
// It does what http.Transport does for such an origin, less the two goroutines
// per connection, between which that spends most of its time.
type client struct {
	addr string
	dial func(ctx context.Context, network, addr string) (net.Conn, error)
	keep int // idle connections

	mu    sync.Mutex // guards the fields below
	idle  []*link    // the one used last at the end
	timer *time.Timer
	set   bool // the timer is running
}

// newClient returns nil where net/http's transport is the better tool.
func newClient(cfg *Config, t *http.Transport) *client {
	if !ownClient || cfg.Upstream.Scheme == "https" {
		return nil
	}
	host, port := cfg.Upstream.Hostname(), cfg.Upstream.Port()
	if port == "" {
		port = "80"
	}
	return &client{
		addr: net.JoinHostPort(host, port),
		// One way of dialling for both: looked up at each dial.
		dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
			return t.DialContext(ctx, network, addr)
		},
		keep: t.MaxIdleConnsPerHost,
	}
}

// get returns an idle connection, which has still to be looked at, or a new one.
func (c *client) get(e *exchange) (*link, error) {
	if l := c.pop(); l != nil {
		l.reused = true
		return l, nil
	}
	e.arm()
	patience := dialTimeout
	if limit := e.p.cfg.HeaderTimeout; limit > 0 {
		patience = min(patience, limit)
	}
	ctx, cancel := context.WithTimeout(e.ctx, patience)
	defer cancel()
	conn, err := c.dial(ctx, "tcp", c.addr)
	if err != nil {
		return nil, fmt.Errorf("connect to the origin: %w", err)
	}
	return newLink(conn), nil
}

func (c *client) pop() *link {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.idle) - 1
	if n < 0 {
		return nil
	}
	l := c.idle[n]
	c.idle[n] = nil
	c.idle = c.idle[:n]
	return l
}

// put keeps a connection for reuse. The last one used is used first, so that
// those a rush has left over are the ones that grow old.
func (c *client) put(l *link) {
	l.idleAt, l.e = time.Now(), nil
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.idle) >= c.keep {
		l.close()
		return
	}
	c.idle = append(c.idle, l)
	switch {
	case c.set:
	case c.timer == nil:
		c.timer, c.set = time.AfterFunc(idleConnTime, c.expire), true
	default:
		c.set = true
		c.timer.Reset(idleConnTime)
	}
}

// expire runs on the timer's goroutine and closes what has been idle too long.
func (c *client) expire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set = false
	now := time.Now()
	young := slices.IndexFunc(c.idle, func(l *link) bool { return now.Sub(l.idleAt) < idleConnTime })
	if young < 0 {
		young = len(c.idle)
	}
	for _, l := range c.idle[:young] {
		l.close()
	}
	c.idle = slices.Delete(c.idle, 0, young)
	if len(c.idle) > 0 {
		c.set = true
		c.timer.Reset(idleConnTime - now.Sub(c.idle[0].idleAt))
	}
}

// closeIdle closes all idle connections.
func (c *client) closeIdle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.idle {
		l.close()
	}
	clear(c.idle)
	c.idle = c.idle[:0]
	if c.timer != nil {
		c.timer.Stop()
		c.set = false
	}
}
