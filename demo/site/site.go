package site

import (
	"net/http"
	"strings"
	"sync"
	"time"
)

// AssetPaths are the site's assets in the form of Concert's -assets setting.
const AssetPaths = "/style/*,/script/*,/images/*"

// defaultBacklogTime is how long front ends commonly wait for a pool.
const defaultBacklogTime = 30 * time.Second

// Options describe a Site.
type Options struct {
	Workers int           // pages worked on at once; at least 1
	Backlog int           // pages that may wait for a worker; beyond it, 502
	Latency time.Duration // what one page costs a worker
	// Spread varies the latency by up to this share in both directions (0 to 1).
	Spread float64
	// BacklogTime is the longest wait for a worker before 504; 0 means 30 s.
	BacklogTime time.Duration
}

// Stats counts what happened to the pages of a Site since it was made.
type Stats struct {
	Present  int   // being worked on or waiting for a worker, now
	Peak     int   // most ever Present at once
	Backlog  int   // waiting for a worker, now
	Started  int64 // given to a worker
	Served   int64 // answered whole
	Gone     int64 // whose client left before the answer
	Refused  int64 // answered 502: the backlog was full
	TimedOut int64 // answered 504: no worker came free in time
}

// Failed is how many pages the site itself could not answer.
func (s Stats) Failed() int64 { return s.Refused + s.TimedOut }

// Site answers pages through a pool of workers. Build one with New.
type Site struct {
	options Options
	workers chan struct{} // one token per busy worker
	assets  map[string]asset

	mu    sync.Mutex // guards stats
	stats Stats
}

// New builds a Site. Workers below 1 count as 1.
func New(o Options) *Site {
	o.Workers = max(o.Workers, 1)
	if o.BacklogTime == 0 {
		o.BacklogTime = defaultBacklogTime
	}
	return &Site{options: o, workers: make(chan struct{}, o.Workers), assets: assets()}
}

// Stats returns the counts of this moment.
func (s *Site) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

func (s *Site) count(change func(*Stats)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.stats)
}

// ServeHTTP answers an asset by its path, and everything else as a page.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if a, ok := s.assets[r.URL.Path]; ok {
		a.serve(w, r)
		return
	}
	for prefix := range strings.SplitSeq(AssetPaths, ",") {
		if strings.HasPrefix(r.URL.Path, strings.TrimSuffix(prefix, "*")) {
			http.NotFound(w, r)
			return
		}
	}
	s.servePage(w, r)
}
