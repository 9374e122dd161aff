package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/andreimerlescu/concert/demo/crowd"
	"github.com/andreimerlescu/concert/demo/site"
)

const (
	// shortLine is when the next wave comes: the line is worth less than this.
	shortLine = 4 * time.Second
	// waveTime is how long a wave takes to arrive.
	waveTime = 2 * time.Second
	// leaveShare is how many give up at the sight of the waiting room.
	leaveShare = 0.1
	// pollJitter spreads the polls of a wave.
	pollJitter = 0.1
)

// show is a running demo: the crowd, and what is known of it.
type show struct {
	options Options
	url     string
	origin  *site.Site
	began   time.Time
	crowd   sync.WaitGroup

	mu    sync.Mutex // guards tally and waves
	tally tally
	waves int
}

// run sends the waves and prints the lines until ctx ends, then waits for the
// last visitor.
func (s *show) run(ctx context.Context, w io.Writer) {
	defer s.crowd.Wait()
	s.wave(ctx)
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	client := &http.Client{Timeout: tick}
	defer client.CloseIdleConnections()
	fmt.Fprintln(w, header)
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		r, err := readRoom(ctx, client, s.url)
		if err != nil {
			if ctx.Err() == nil {
				fmt.Fprintf(w, "the room's figures are not available: %v\n", err)
			}
			continue
		}
		fmt.Fprintln(w, s.line(time.Now(), r))
		if s.lineIsShort(r) {
			s.wave(ctx)
		}
	}
}

// lineIsShort reports whether the line is worth less than shortLine, everybody
// of the last wave having arrived.
func (s *show) lineIsShort(r room) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	perSecond := float64(s.options.Cap) / s.options.Latency.Seconds()
	return s.tally.arrived == s.waves*s.options.Visitors &&
		float64(r.Waiting) < perSecond*shortLine.Seconds()
}

// wave sends the next visitors in the background; run waits for them.
func (s *show) wave(ctx context.Context) {
	s.mu.Lock()
	first := s.waves * s.options.Visitors
	s.waves++
	s.mu.Unlock()
	s.crowd.Go(func() {
		crowd.Send(ctx, s.options.Visitors, waveTime, func(ctx context.Context, i int) { s.visit(ctx, first+i) })
	})
}

// visit plays the n-th visitor and enters it into the tally.
func (s *show) visit(ctx context.Context, n int) {
	arrived := time.Now()
	s.change(func(t *tally) { t.arrive() })
	v := crowd.Visitor{
		Page:       s.url,
		Address:    crowd.Address(n),
		Jitter:     pollJitter,
		Leaves:     rand.Float64() < leaveShare,
		OnQueued:   func() { s.change(func(t *tally) { t.queue(arrived) }) },
		OnAdmitted: s.loadAssets,
	}
	result := v.Visit(ctx)
	s.change(func(t *tally) { t.end(arrived, result) })
}

func (s *show) change(f func(*tally)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.tally)
}

// loadAssets asks for what the page needs, as a browser would, with the pass
// that came with the page. What goes wrong shows in the room's own figures.
func (s *show) loadAssets(ctx context.Context, client *http.Client) {
	for _, path := range site.Assets() {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+strings.TrimPrefix(path, "/"), nil)
		if err != nil {
			return
		}
		resp, err := client.Do(req)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, resp.Body) // read whole, so that the connection is used again
		_ = resp.Body.Close()
	}
}

// room is what the printed line takes from Concert's own statistics.
type room struct {
	Waiting  int `json:"live_queue_depth"`
	InFlight int `json:"occupancy"`
	Cap      int `json:"cap"`
}

// readRoom asks Concert for its figures.
func readRoom(ctx context.Context, client *http.Client, url string) (room, error) {
	var r room
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"_room/stats", nil)
	if err != nil {
		return r, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return r, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return r, fmt.Errorf("read %s: %s", req.URL.Path, resp.Status)
	}
	return r, json.NewDecoder(resp.Body).Decode(&r)
}
