package app

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"slices"
	"sync"

	"github.com/andreimerlescu/concert/abuse"
	"github.com/andreimerlescu/concert/config"
	"github.com/andreimerlescu/concert/stages/priority"
	"github.com/andreimerlescu/concert/upstream"
)

// maxIdleAssets bounds how many connections are kept for assets: the derived
// asset cap allows tens of thousands, far more than are ever in flight.
const maxIdleAssets = 1024

// proxyConfig is the part of the configuration that a proxy goes by.
func proxyConfig(c *config.Config, log *slog.Logger) upstream.Config {
	return upstream.Config{
		Upstream:          c.Upstream,
		PreserveHost:      c.PreserveHost,
		HeaderTimeout:     c.UpstreamTimeout,
		IdleTimeout:       c.UpstreamIdleTimeout,
		BodyTimeout:       c.BodyTimeout,
		WriteTimeout:      c.WriteTimeout,
		StreamIdleTimeout: c.StreamIdleTimeout,
		MaxBody:           c.MaxBodyBytes,
		MaxConns:          c.Cap + c.Rooms.Caps() + min(c.AssetSlots(), maxIdleAssets),
		ClientProtoHeader: c.ClientProtoHeader,
		OwnFields:         priority.Header,
		Log:               log,
	}
}

// proxy is a proxy and what it was made of.
type proxy struct {
	*upstream.Proxy
	from upstream.Config
}

// proxies are the one in use and those that still carry streams of before a
// change of the configuration.
type proxies struct {
	mu      sync.Mutex // guards the fields below
	current *proxy
	retired []*proxy
}

// plan returns the proxy in use when it is made of the same, or a new one.
func (ps *proxies) plan(c upstream.Config) (*proxy, error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.current != nil && same(ps.current.from, c) {
		return ps.current, nil
	}
	p, err := upstream.New(c)
	if err != nil {
		return nil, err
	}
	fresh := &proxy{p, c}
	if ps.current == nil {
		ps.current = fresh
	}
	return fresh, nil
}

// same reports whether two configurations make the same proxy.
func same(a, b upstream.Config) bool {
	sameURL := a.Upstream.String() == b.Upstream.String()
	a.Upstream = b.Upstream
	return sameURL && a == b
}

// use puts a planned proxy in the place of the one before.
func (ps *proxies) use(p *proxy) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if p == ps.current {
		return
	}
	ps.retired = append(ps.retired, ps.current)
	ps.current = p
}

// sweep lets go of the connections and, in the end, of the proxies that are no
// longer used.
func (ps *proxies) sweep() {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.retired = slices.DeleteFunc(ps.retired, func(p *proxy) bool {
		p.Close()
		return p.Streams() == 0
	})
}

func (ps *proxies) all() []*proxy {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return append(slices.Clone(ps.retired), ps.current)
}

// endStreams ends the open streams of a banned client or range, save those of
// exempt addresses, and returns how many there were.
func (ps *proxies) endStreams(client netip.Prefix, exempt *abuse.Registry) (n int) {
	for _, p := range ps.all() {
		n += p.EndStreams(func(a netip.Addr) bool { return client.Contains(a) && !exempt.Exempt(a) })
	}
	return n
}

// closeStreams ends all streams and waits for that.
func (ps *proxies) closeStreams(ctx context.Context) error {
	var errs []error
	for _, p := range ps.all() {
		errs = append(errs, p.CloseStreams(ctx))
	}
	return errors.Join(errs...)
}
