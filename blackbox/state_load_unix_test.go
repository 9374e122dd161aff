//go:build unix

package blackbox

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/internal/rawtest"
)

// busySite is an origin that counts how many requests it has at once.
type busySite struct {
	*httptest.Server
	now, most, served atomic.Int64
}

func newBusySite(t *testing.T, takes time.Duration) *busySite {
	s := new(busySite)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := s.now.Add(1)
		defer s.now.Add(-1)
		for most := s.most.Load(); n > most && !s.most.CompareAndSwap(most, n); most = s.most.Load() {
		}
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case <-time.After(takes):
		case <-r.Context().Done():
		}
		s.served.Add(1)
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, originMark)
	}))
	t.Cleanup(s.Close)
	return s
}

// browse loads pages and, once let in, sends a form now and then, until ctx
// ends. It waits when told to, and reports every answer that is neither a page
// nor a place in line.
func browse(ctx context.Context, v *visitor, keepAlive bool, failed func(error)) {
	for ctx.Err() == nil {
		method := http.MethodGet
		if v.cookie("concert_admit") != "" && rand.IntN(4) == 0 {
			method = http.MethodPost
		}
		req, err := http.NewRequestWithContext(context.WithoutCancel(ctx), method, v.base+"/", strings.NewReader("a=b"))
		if err != nil {
			failed(err)
			return
		}
		req.Header.Set("Accept", "text/html")
		req.Close = !keepAlive
		resp, err := v.client.Do(req)
		if err != nil {
			failed(err)
			continue
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		switch {
		case err != nil:
			failed(err)
		case resp.StatusCode != http.StatusOK:
			failed(fmt.Errorf("status %d: %.200s", resp.StatusCode, body))
		case !strings.Contains(string(body), originMark):
			select {
			case <-time.After(20 * time.Millisecond): // a waiting page
			case <-ctx.Done():
			}
		}
	}
}

// TestUpgradeUnderLoad: no request fails while processes replace each other,
// and the origin never has more than the cap and the lane for forms.
// Invariant 1.
func TestUpgradeUnderLoad(t *testing.T) {
	const slots, lane, upgrades = 8, 2, 3
	site, dir := newBusySite(t, 15*time.Millisecond), dataDir(t)
	p := startIn(t, dir, strings.TrimPrefix(site.URL, "http://"), "-cap", strconv.Itoa(slots), "-priority-cap", strconv.Itoa(lane), "-access-log=false", "-queue-per-client", "0")
	ctx, cancel := context.WithCancel(t.Context())
	var browsers sync.WaitGroup
	var mu sync.Mutex // guards failures
	var failures []error
	for i := range 24 {
		v := newVisitor(t, p).follow()
		browsers.Go(func() { // ends with ctx
			browse(ctx, v, i%2 == 0, func(err error) {
				mu.Lock()
				defer mu.Unlock()
				failures = append(failures, err)
			})
		})
	}
	for range upgrades {
		before := site.served.Load()
		rawtest.Until(t, "pages are served", func() bool { return site.served.Load() > before+100 })
		takeOver(t, p)
	}
	before := site.served.Load()
	rawtest.Until(t, "pages are served by the last process", func() bool { return site.served.Load() > before+100 })
	cancel()
	browsers.Wait()
	if len(failures) > 0 {
		t.Errorf("%d requests failed, as the first: %v", len(failures), failures[0])
	}
	if most := site.most.Load(); most > slots+lane {
		t.Errorf("invariant 1: the origin had up to %d requests at once, want at most %d", most, slots+lane)
	} else if most < slots {
		t.Errorf("the origin had at most %d requests at once, want %d", most, slots)
	}
	t.Logf("%d pages through %d hand-overs", site.served.Load(), upgrades)
}
