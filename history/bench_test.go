package history

import (
	"fmt"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/internal/allocs"
	"github.com/andreimerlescu/concert/pipeline"
)

// drained is a History with a file whose queue is emptied by the caller.
func drained() *History {
	h := New(Options{Settings: Settings{On: true, Query: true}, File: "unused"})
	h.Banned(banned("10.0.0.0/8", time.Now().Add(-time.Second), time.Time{}))
	h.settle(newReplay(time.Now()))
	return h
}

func TestRecordingAllocatesNothing(t *testing.T) {
	asset := visit("192.0.2.1", "/a.css", 200)
	asset.Class = pipeline.Asset
	flood := visits(func(i int) *pipeline.Visit { return blocked("10.0.0.1", fmt.Sprint("/", i%7)) })
	for name, vs := range map[string][]*pipeline.Visit{
		"asset":   {asset},
		"request": visits(func(i int) *pipeline.Visit { return visit(fmt.Sprintf("192.0.2.%d", i%50), "/find?q=shoes", 200) }),
		"blocked": flood,
	} {
		h := drained()
		i := 0
		record := func() {
			h.Observe(vs[i%len(vs)])
			i++
			select {
			case <-h.queue:
			default:
			}
		}
		for range 100 * EntriesPerClient { // until the rings are full
			record()
		}
		if n := allocs.PerRun(1000, record); n != 0 {
			t.Errorf("%s: %v allocations, want 0", name, n)
		}
	}
}

func visits(f func(i int) *pipeline.Visit) []*pipeline.Visit {
	vs := make([]*pipeline.Visit, 1000)
	for i := range vs {
		vs[i] = f(i)
	}
	return vs
}

// The bound that the package comment states, with everything of full length and
// different.
func TestMemoryIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("fills every table")
	}
	const bound = 200 << 20
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	h := inMemory()
	now := time.Now()
	for i := range MaxBans {
		h.Banned(banned(fmt.Sprintf("10.0.%d.%d/32", i/256, i%256), now.Add(-time.Minute), time.Time{}))
	}
	long := strings.Repeat("x", maxPath)
	agent := strings.Repeat("y", maxAgent)
	for i := range MaxBans * EntriesPerClient {
		c := i / EntriesPerClient
		q := request{at: now, method: "GET", path: fmt.Sprintf("/%08d", i) + long[9:], agent: fmt.Sprintf("%d", i%4) + agent[1:], status: 429, blocked: true}
		q.addr = netip.AddrFrom4([4]byte{10, 0, byte(c / 256), byte(c)})
		q.key = clientip.KeyOf(q.addr)
		h.mu.Lock()
		q.ban = h.bans.covering(q.key, now)
		h.clients.add(&q)
		h.bans.count(q.ban, &q)
		h.mu.Unlock()
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	used := after.HeapAlloc - before.HeapAlloc
	t.Logf("%d MB", used>>20)
	if used > bound || len(h.bans.all) != MaxBans {
		t.Errorf("%d MB, want at most %d", used>>20, bound>>20)
	}
	runtime.KeepAlive(h)
}

// Everybody at once, for the race detector; nothing is lost.
func TestConcurrentUse(t *testing.T) {
	l := open(t, logFile(t), nil)
	l.Banned(banned("10.0.0.0/8", time.Now().Add(-time.Second), time.Time{}))
	const each = 500
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			for i := range each {
				l.Observe(blocked(fmt.Sprintf("10.0.0.%d", n), "/"))
				l.Observe(visit(fmt.Sprintf("192.0.2.%d", n), fmt.Sprint("/", i), 404))
			}
		})
	}
	wg.Go(func() {
		for i := range each {
			v := visit("198.51.100.1", "/", 200)
			l.Cause(v, func() { l.Banned(banned("198.51.100.1/32", v.Start, time.Time{})) })
			l.Observe(v)
			l.Lifted(v.Client.Key, time.Now(), "operator")
			l.Search("1", i%2 == 0, time.Now())
			l.Ban(1, time.Now())
			l.Stats()
			l.Sweep(time.Now())
		}
	})
	wg.Wait()
	l.stop()
	if b, _ := l.Ban(1, time.Now()); b.Requests != 4*each {
		t.Errorf("%d blocked requests, want %d", b.Requests, 4*each)
	}
	var logged uint64
	for _, e := range read(t, l.path) {
		if logged += e.Count; e.Blocked {
			logged++
		}
	}
	if logged != 4*each {
		t.Errorf("%d blocked requests in the file, want %d", logged, 4*each)
	}
}

func BenchmarkObserve(b *testing.B) {
	for name, vs := range map[string][]*pipeline.Visit{
		"request": visits(func(i int) *pipeline.Visit { return visit(fmt.Sprintf("192.0.2.%d", i%250), "/find?q=shoes", 200) }),
		"flood":   visits(func(i int) *pipeline.Visit { return blocked(fmt.Sprintf("10.0.0.%d", i%250), "/wp-login.php") }),
	} {
		b.Run(name, func(b *testing.B) {
			h := drained()
			go func() { // ends with the benchmark's last record
				for range h.queue {
				}
			}()
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				h.Observe(vs[i%len(vs)])
			}
			b.StopTimer()
			close(h.queue)
		})
	}
}

func BenchmarkLine(b *testing.B) {
	q := request{at: start, addr: netip.MustParseAddr("203.0.113.9"), method: "GET", path: "/find?q=shoes", status: 200, latency: time.Millisecond, agent: strings.Repeat("Mozilla/5.0 ", 9)}
	b.ReportAllocs()
	var line []byte
	for b.Loop() {
		e := requestEvent(&q, owners{})
		line = appendEvent(line[:0], &e)
	}
}

func BenchmarkReplay(b *testing.B) {
	e := requestEvent(&request{at: start, addr: netip.MustParseAddr("203.0.113.9"), method: "GET", path: "/find?q=shoes", status: 200, agent: strings.Repeat("Mozilla/5.0 ", 9)}, owners{})
	line := appendEvent(nil, &e)
	r := newReplay(start)
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		if !r.line(line) {
			b.Fatal("not read")
		}
	}
}
