package blackbox

import (
	"context"
	"encoding/base64"
	bin "encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/blackbox/launch"
	"github.com/andreimerlescu/concert/internal/rawtest"
)

const stormCap = 3

// storm is a crowd before a site whose Concert is killed again and again.
type storm struct {
	t    *testing.T
	base atomic.Pointer[string] // where Concert is now

	mu     sync.Mutex // guards the fields below
	peak   int        // the most pages that any one Concert had at the site
	served int
}

// newSite returns the site as one Concert sees it, at an address of its own:
// what a killed one has left behind may arrive while the next one is at work,
// and nobody waits for it.
func (s *storm) newSite() (address string) {
	inside := 0
	count := func(n int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		inside += n
		s.peak = max(s.peak, inside)
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		count(+1)
		select {
		case <-time.After(10 * time.Millisecond):
		case <-r.Context().Done():
		}
		count(-1)
		_, _ = io.WriteString(w, originMark) // the client may be dead
	}))
	s.t.Cleanup(site.Close)
	return strings.TrimPrefix(site.URL, "http://")
}

// guest is a visitor who does not mind a site that is away for a moment.
type guest struct {
	s      *storm
	client *http.Client
	ticket uint64 // the number of the place, 0 for none
	// unsure: a page request failed, so nobody knows whether it was let in and
	// used the ticket up.
	unsure bool
}

// visit waits in line until the site's page is there.
func (g *guest) visit(ctx context.Context) {
	for ctx.Err() == nil {
		body, err := g.get(ctx, "/")
		switch {
		case err != nil:
			g.unsure = true
			continue
		case strings.Contains(body, originMark):
			return
		}
		g.place()
		for ctx.Err() == nil {
			if body, err := g.get(ctx, "/queue/status"); err == nil && strings.Contains(body, `"ready":true`) {
				break
			}
			select {
			case <-time.After(time.Duration(20+rand.IntN(40)) * time.Millisecond):
			case <-ctx.Done():
			}
		}
	}
}

// place checks that the ticket is the one of before.
func (g *guest) place() {
	req, err := http.NewRequest(http.MethodGet, "http://site.test/", nil)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	for _, c := range g.client.Jar.Cookies(req.URL) {
		if c.Name != "room_ticket" {
			continue
		}
		token, err := base64.RawURLEncoding.DecodeString(c.Value)
		if err != nil || len(token) < 21 {
			g.s.t.Errorf("a ticket is %q", c.Value)
			return
		}
		number := bin.BigEndian.Uint64(token[5:]) // behind the version and the key's id
		if g.ticket != 0 && number != g.ticket && !g.unsure {
			g.s.t.Errorf("invariant 4: a place was lost: ticket %d became %d", g.ticket, number)
		}
		g.ticket, g.unsure = number, false
	}
}

func (g *guest) get(ctx context.Context, path string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, rawtest.Patience)
	defer cancel()
	// The host is the same through all restarts, so that cookies stay.
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://site.test"+path, nil)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	req.Header.Set("Accept", "text/html")
	resp, err := g.client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 500 {
		err = errors.New(resp.Status)
	}
	return string(body), err
}

// newGuest comes from wherever Concert is at the time.
func (s *storm) newGuest() *guest {
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	transport := &http.Transport{DisableKeepAlives: true, Proxy: nil}
	transport.DialContext = dialTo(&s.base)
	return &guest{s: s, client: &http.Client{Jar: jar, Transport: transport}}
}

// TestKillUnderLoad: with a crowd that comes, waits and goes, Concert is killed
// at random moments. It always starts, the site never has more than the cap,
// nobody who waits loses their ticket, and in the end all are served.
// Invariants 1 and 4.
func TestKillUnderLoad(t *testing.T) {
	t.Parallel()
	s := &storm{t: t}
	dir := dataDir(t)
	run := func() *launch.Process {
		p := startIn(t, dir, s.newSite(),
			"-cap", itoa(stormCap), "-max-queue", "0", "-queue-per-client", "0", "-abuse=false", "-access-log=false")
		s.base.Store(&p.Addr)
		return p
	}
	p := run()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var crowd sync.WaitGroup
	var over atomic.Bool
	for range 25 {
		crowd.Go(func() { // ends once it is over, and served
			for !over.Load() && ctx.Err() == nil {
				s.newGuest().visit(ctx)
				s.mu.Lock()
				s.served++
				s.mu.Unlock()
			}
		})
	}
	for range 4 * killRounds(t) { // with TestKillLoop, fifty
		<-time.After(time.Duration(50+rand.IntN(200)) * time.Millisecond)
		p.Kill()
		p = run()
	}
	over.Store(true)
	done := make(chan struct{})
	go func() { crowd.Wait(); close(done) }() // ends with the crowd
	select {
	case <-done:
	case <-time.After(3 * rawtest.Patience):
		t.Errorf("somebody is not served: %+v", stats(t, p))
		stop()
		<-done
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.peak > stormCap {
		t.Errorf("invariant 1: %d pages at the site at once, want at most %d", s.peak, stormCap)
	}
	if s.served == 0 {
		t.Error("nobody was served")
	}
	t.Logf("%d served, at most %d at once", s.served, s.peak)
}

// dialTo connects to whatever address holds at the time.
func dialTo(address *atomic.Pointer[string]) func(context.Context, string, string) (net.Conn, error) {
	var d net.Dialer
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		return d.DialContext(ctx, network, *address.Load())
	}
}
