package certs

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/andreimerlescu/concert/internal/ticks"
)

// lookEvery is how often files are looked at for changes, and what is missing
// or due is seen to.
const lookEvery = 5 * time.Second

// Config says which certificates there are to be.
type Config struct {
	Files []Pair // the first is for whoever asks for no name that is known

	Domains     []string // to be certified by the authority, as of Names
	Email       string   // for the authority; "" for none
	Cache       string   // directory, as of CheckCache
	Directory   string   // URL of the authority's directory
	DirectoryCA []byte   // PEM, roots to trust for that beside the system's; nil for none
	EABID       string   // number of an account that the authority has already; "" for none
	EABKey      string   // its key, as of EABKey
	HTTP01      bool     // Plain is served on port 80
}

// Options are what a Manager works with.
type Options struct {
	// Log gets what operators should know; nil discards it.
	Log *slog.Logger
}

// Manager has the certificates in use. Use [New].
type Manager struct {
	log    *slog.Logger
	config *tls.Config
	plan   atomic.Pointer[Plan] // stored under mu

	full, resumed, unknown, failed atomic.Uint64

	mu      sync.Mutex // guards the fields below, and the order of changes
	tickets Tickets
	warned  map[string]time.Time // by name, the last warning that its end is near
	broken  string               // why files were not read again at the last look; "" for no reason
	said    string               // what of that is in the log
}

// Plan is a configuration with everything that it needs read and checked.
type Plan struct {
	files     *files
	authority *authority // nil for none
}

// New returns a Manager without any certificate: Listener does no TLS.
func New(o Options) *Manager {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	m := &Manager{log: o.Log, warned: make(map[string]time.Time)}
	m.config = m.newConfig()
	m.plan.Store(&Plan{files: newFiles(nil)})
	m.tickets, _ = m.tickets.renewed(time.Now())
	m.config.SetSessionTicketKeys(m.tickets.Keys)
	return m
}

// Plan reads and checks what c names, and changes nothing. Files that are in
// use already are not read again. The error joins everything that is wrong.
func (m *Manager) Plan(c Config) (*Plan, error) {
	var p Plan
	var errs [2]error
	now := m.plan.Load()
	p.files, errs[0] = loadFiles(c.Files, now.files)
	switch {
	case len(c.Domains) == 0:
	case now.authority != nil && now.authority.same(c):
		p.authority = now.authority
	default:
		if errs[1] = CheckCache(c.Cache); errs[1] != nil {
			errs[1] = fmt.Errorf("-tls-cache %s: %w", c.Cache, errs[1])
			break
		}
		p.authority, errs[1] = newAuthority(c, m.log)
	}
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	return &p, nil
}

// Use has every handshake from now on go by the plan.
func (m *Manager) Use(p *Plan) {
	m.mu.Lock()
	defer m.mu.Unlock()
	old := m.plan.Swap(p)
	if old.authority != nil && old.authority != p.authority {
		old.authority.retire()
	}
	if p.authority != nil && old.authority != p.authority {
		if err := p.authority.prepare(m.log); err != nil {
			m.log.Error("certificates are kept in memory only", "error", err)
		}
	}
}

// Enabled reports whether there is anything to do TLS with.
func (m *Manager) Enabled() bool {
	p := m.plan.Load()
	return len(p.files.pairs) > 0 || p.authority != nil
}

// Refresh reads all files again and tries at once what was put off after a
// failure: what an operator expects of SIGHUP. With an error, which joins what
// is wrong, certificates that cannot be read stay as they were.
func (m *Manager) Refresh() error {
	if a := m.plan.Load().authority; a != nil {
		for _, w := range a.wanted {
			w.hurry()
		}
	}
	return m.reread()
}

// reread reads the files that have changed.
func (m *Manager) reread() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.plan.Load()
	next, changed, err := p.files.reread()
	for _, l := range changed {
		m.log.Info("certificate read again", "file", l.Cert, "not_after", l.cert.Leaf.NotAfter.UTC().Format(time.RFC3339))
		for _, w := range l.Warnings(l.cert, time.Now()) {
			m.log.Warn(w)
		}
	}
	if next != p.files {
		m.plan.Store(&Plan{next, p.authority})
	}
	return err
}

// Run keeps certificates and keys current until ctx ends.
func (m *Manager) Run(ctx context.Context) {
	m.look(ctx, time.Now())
	ticks.Each(ctx, lookEvery, func(now time.Time) { m.look(ctx, now) })
}

// look sees to whatever is due.
func (m *Manager) look(ctx context.Context, now time.Time) {
	m.sayOnce(m.reread())
	if a := m.plan.Load().authority; a != nil {
		for _, w := range a.wanted {
			w.attempt(now)
		}
		a.cache.retry(ctx)
	}
	m.renewTickets(now)
	m.warn(now)
}

// sayOnce logs why files cannot be read again: at the second look, for at the
// first somebody may be in the middle of copying, and once for each reason.
func (m *Manager) sayOnce(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	m.mu.Lock()
	again := text == m.broken && text != m.said
	m.broken = text
	if again || text == "" {
		m.said = text
	}
	m.mu.Unlock()
	if again && text != "" {
		m.log.Warn("a changed certificate is not used; the one before stays", "error", text)
	}
}

// renewTickets changes the key of tickets when it is time.
func (m *Manager) renewTickets(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if next, changed := m.tickets.renewed(now); changed {
		m.tickets = next
		m.config.SetSessionTicketKeys(next.Keys)
	}
}

// Tickets returns the keys of session tickets, for a successor. They are
// secret.
func (m *Manager) Tickets() Tickets {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.tickets
}

// Inherit goes on with the keys of a predecessor, whose clients are then known
// here. Call it before the first handshake.
func (m *Manager) Inherit(t Tickets) {
	if len(t.Keys) == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tickets, _ = t.renewed(time.Now())
	m.config.SetSessionTicketKeys(m.tickets.Keys)
}

// Listener returns ln with TLS on every connection that is accepted while there
// are certificates: those are of type *tls.Conn, as package net/http expects.
// The handshake is the server's to do.
func (m *Manager) Listener(ln net.Listener) net.Listener { return &listener{ln, m} }

type listener struct {
	net.Listener
	m *Manager
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil || !l.m.Enabled() {
		return c, err
	}
	return tls.Server(c, l.m.config), nil
}
