package ipinfo

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"time"
)

// Config names the sources; empty ones are not used.
type Config struct {
	// Data is the file name of an IPtoASN database, plain or gzip.
	Data string
	// Poll is how often Data is looked at for changes; 0 is never.
	Poll time.Duration
	// Addr is a naddr service, host:port or a URL, for as long as Data is empty
	// or not loaded.
	Addr string
	// Log gets what operators should know; nil discards it.
	Log *slog.Logger
}

// Service answers from the best source there is. Use [New], and keep Run going.
type Service struct {
	file   *File   // nil when there is none
	remote *Remote // nil when there is none
}

var _ Source = (*Service)(nil)

// New returns a service that knows nothing yet. The error says what is wrong
// with Addr; a file that cannot be loaded is none.
func New(c Config) (*Service, error) {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s := new(Service)
	if c.Data != "" {
		s.file = newFile(c.Data, c.Poll, c.Log)
	}
	if c.Addr != "" {
		base, err := ParseServiceURL(c.Addr)
		if err != nil {
			return nil, fmt.Errorf("naddr service: %w", err)
		}
		s.remote = newRemote(base, c.Log)
	}
	return s, nil
}

// Run works for the sources until ctx ends.
func (s *Service) Run(ctx context.Context) {
	var wg sync.WaitGroup
	if s.file != nil {
		wg.Go(func() { s.file.Run(ctx) })
	}
	if s.remote != nil {
		wg.Go(func() { s.remote.Run(ctx) })
	}
	wg.Wait()
}

// Lookup implements [Source].
func (s *Service) Lookup(a netip.Addr) (Details, bool) {
	switch {
	case s.file != nil && s.file.Loaded():
		return s.file.Lookup(a)
	case s.remote != nil:
		return s.remote.Lookup(a)
	}
	return Details{}, false
}

// LookupAll is Lookup for a table of addresses. It waits for answers that are
// on their way, but no longer than 600 ms in all, and leaves out what is not
// known by then.
func (s *Service) LookupAll(ctx context.Context, addrs []netip.Addr) map[netip.Addr]Details {
	if s.remote != nil && (s.file == nil || !s.file.Loaded()) {
		s.remote.wait(ctx, addrs)
	}
	known := make(map[netip.Addr]Details, len(addrs))
	for _, a := range addrs {
		if d, ok := s.Lookup(a); ok {
			known[a] = d
		}
	}
	return known
}

// Names of sources in [Status].
const (
	SourceFile   = "file"
	SourceRemote = "naddr"
	SourceOff    = "off"
)

// Status says which source answers, for operators.
type Status struct {
	Source string    `json:"source"` // SourceFile, SourceRemote or SourceOff
	File   string    `json:"file,omitempty"`
	Ranges int       `json:"ranges,omitempty"`
	Loaded time.Time `json:"loaded,omitzero"`
	Addr   string    `json:"addr,omitempty"`
	Cached int       `json:"cached,omitempty"` // addresses that the service has been asked for
	Error  string    `json:"error,omitempty"`  // why the last attempt at either failed; the file's first
}

// Status reads which source answers now.
func (s *Service) Status() Status {
	st := Status{Source: SourceOff}
	if s.remote != nil {
		s.remote.status(&st)
	}
	if s.file != nil {
		s.file.status(&st)
	}
	return st
}

func (f *File) status(st *Status) {
	st.File = f.path
	if t := f.table.Load(); t != nil {
		st.Source, st.Ranges = SourceFile, t.Rows()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	st.Loaded = f.loaded
	if f.err != nil {
		st.Error = f.err.Error()
	}
}
