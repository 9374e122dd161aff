package demo

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/andreimerlescu/concert/demo/crowd"
	"github.com/andreimerlescu/concert/demo/site"
)

// door stands in for Concert: it lets slots pages through at once, shows
// everyone else a waiting page, and says ready to every poll.
type door struct {
	slots   chan struct{}
	proxy   *httputil.ReverseProxy
	assets  atomic.Int64
	stopped atomic.Bool
}

func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == crowd.StatusPath:
		fmt.Fprint(w, `{"ready":true,"position":1}`)
	case r.URL.Path == "/_room/stats":
		fmt.Fprintf(w, `{"cap":%d,"occupancy":%d,"live_queue_depth":3}`, cap(d.slots), len(d.slots))
	case slices.Contains(site.Assets(), r.URL.Path):
		d.assets.Add(1)
		d.proxy.ServeHTTP(w, r)
	default:
		d.page(w, r)
	}
}

func (d *door) page(w http.ResponseWriter, r *http.Request) {
	select {
	case d.slots <- struct{}{}:
		defer func() { <-d.slots }()
		d.proxy.ServeHTTP(w, r)
	default:
		http.SetCookie(w, &http.Cookie{Name: "room_ticket", Value: "t", Path: "/"})
		fmt.Fprint(w, "please wait")
	}
}

// start is a Start that runs the door, whose flags it reads as Concert would.
func (d *door) start(t *testing.T) Start {
	return func(_ context.Context, args []string) (string, func(context.Context) error, error) {
		fs := flag.NewFlagSet("concert", flag.ContinueOnError)
		listen, upstream := fs.String("listen", "", ""), fs.String("upstream", "", "")
		slots := fs.Int("cap", 0, "")
		fs.Int("max-queue", 369, "")
		fs.String("assets", "", "")
		fs.String("data-dir", "somewhere", "")
		fs.Bool("access-log", true, "")
		if err := fs.Parse(args); err != nil {
			return "", nil, err
		}
		origin, err := url.Parse(*upstream)
		if err != nil {
			return "", nil, err
		}
		d.slots, d.proxy = make(chan struct{}, *slots), httputil.NewSingleHostReverseProxy(origin)
		d.proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
		l, err := net.Listen("tcp", *listen)
		if err != nil {
			return "", nil, err
		}
		srv := &httptest.Server{Listener: l, Config: &http.Server{Handler: d}}
		srv.Start()
		t.Cleanup(srv.Close)
		return srv.URL + "/", func(context.Context) error { d.stopped.Store(true); return nil }, nil
	}
}

// screen is where the demo prints; it ends the demo after some lines.
type screen struct {
	mu     sync.Mutex // guards text
	text   bytes.Buffer
	until  string // text after which to call end
	end    func()
	ending sync.Once
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.text.Write(p)
	if strings.Contains(s.text.String(), s.until) {
		s.ending.Do(s.end)
	}
	return n, err
}

func TestRun(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	d := &door{}
	// Its own line for the first second, then the end.
	w := &screen{until: "s  ", end: cancel}
	o := Options{Listen: taken.Addr().String(), Cap: 2, Visitors: 20, Latency: 20 * time.Millisecond}
	if err := Run(ctx, w, o, d.start(t)); err != nil {
		t.Fatal(err)
	}
	text := w.text.String()
	for _, want := range []string{
		taken.Addr().String() + " is not free", "Open    http://127.0.0.1:", header, "/2 ", "  ok\n",
		"visitors arrived in 1 waves", "never had more than", "(cap 2) and failed 0.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the output does not hold %q", want)
		}
	}
	if !d.stopped.Load() || d.assets.Load() == 0 {
		t.Errorf("stopped %v, %d assets loaded; want true and some", d.stopped.Load(), d.assets.Load())
	}
	if t.Failed() {
		t.Log(text)
	}
}

func TestRunEndsByDuration(t *testing.T) {
	d := &door{}
	o := Options{Listen: "127.0.0.1:0", Cap: 1, Visitors: 1, Latency: time.Millisecond, Duration: 50 * time.Millisecond}
	if err := Run(t.Context(), io.Discard, o, d.start(t)); err != nil || !d.stopped.Load() {
		t.Errorf("error %v, stopped %v; want nil and true", err, d.stopped.Load())
	}
}

func TestRunReportsWhatFails(t *testing.T) {
	broken := errors.New("broken")
	o := Options{Listen: "127.0.0.1:0", Cap: 1, Visitors: 1, Latency: time.Millisecond, Duration: time.Millisecond}
	noStart := func(context.Context, []string) (string, func(context.Context) error, error) { return "", nil, broken }
	if err := Run(t.Context(), io.Discard, o, noStart); !errors.Is(err, broken) {
		t.Errorf("start fails: error %v, want %v", err, broken)
	}
	noStop := func(ctx context.Context, args []string) (string, func(context.Context) error, error) {
		u, _, err := (&door{}).start(t)(ctx, args)
		return u, func(context.Context) error { return broken }, err
	}
	if err := Run(t.Context(), io.Discard, o, noStop); !errors.Is(err, broken) {
		t.Errorf("stop fails: error %v, want %v", err, broken)
	}
}

func TestParse(t *testing.T) {
	changed := defaultOptions()
	changed.Cap, changed.Latency = 9, time.Second
	tests := []struct {
		args string
		want Options
		err  []string
	}{
		{args: "", want: defaultOptions()},
		{args: "-cap 9 -latency 1s", want: changed},
		{args: "-cap 0 -visitors 9999 -latency 0s -duration -1s", err: []string{
			"-cap 0: want 1 to 1000", "-visitors 9999: want", "-latency 0s: want", "-duration -1s: want"}},
		{args: "-nonsense", err: []string{"-nonsense"}},
		{args: "now", err: []string{`unexpected argument "now"`}},
	}
	for _, tt := range tests {
		got, err := Parse(strings.Fields(tt.args), io.Discard)
		if (err != nil) != (tt.err != nil) {
			t.Errorf("%q: error %v, want %q", tt.args, err, tt.err)
		}
		for _, want := range tt.err {
			if err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%q: error %q does not hold %q", tt.args, err, want)
			}
		}
		if diff := cmp.Diff(tt.want, got); tt.err == nil && diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.args, diff)
		}
	}
}

func TestTally(t *testing.T) {
	var tl tally
	start := time.Unix(1000, 0)
	first, second := start, start.Add(4*time.Second)
	for _, at := range []time.Time{first, second} {
		tl.arrive()
		tl.queue(at)
	}
	now := start.Add(10 * time.Second)
	if got := tl.longest(now); got != 10*time.Second {
		t.Errorf("longest wait %v, want 10s", got)
	}
	tl.end(first, crowd.Result{Outcome: crowd.Admitted, Queued: true, Arrived: first, Done: now})
	if got := tl.longest(now); got != 6*time.Second {
		t.Errorf("longest wait once the first is in %v, want 6s", got)
	}
	tl.end(second, crowd.Result{Outcome: crowd.Left, Queued: true})
	tl.end(second, crowd.Result{Outcome: crowd.Failed, Err: io.EOF})
	if tl.longest(now) != 0 || tl.admitted != 1 || tl.left != 1 || tl.failed != 1 || tl.waits[0] != 10*time.Second {
		t.Errorf("tally %+v", tl)
	}
}

func TestHealth(t *testing.T) {
	tests := []struct {
		now    site.Stats
		before int64
		want   string
	}{
		{site.Stats{Refused: 3}, 3, "ok"},
		{site.Stats{Refused: 3, TimedOut: 2}, 3, "overloaded: 2 pages failed"},
		{site.Stats{Backlog: 4}, 0, "overloaded: 4 pages wait for a worker"},
	}
	for _, tt := range tests {
		if got := health(tt.now, tt.before); got != tt.want {
			t.Errorf("health(%+v, %d) = %q, want %q", tt.now, tt.before, got, tt.want)
		}
	}
}
