//go:build unix

package portal

import (
	"context"
	"fmt"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/abuse"
	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/history"
	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/pipeline"
)

// crowded is a portal with a long line, a full history and many bans.
func crowded(tb testing.TB, waiting, clients, bans int) *signed {
	tb.Helper()
	r := newRig(tb)
	s := r.signIn(operatorPass)
	ctx, now := context.Background(), time.Now()
	r.queueUp()
	for i := range waiting {
		a := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
		d, err := r.line.Enter(ctx, now, line.Entry{Client: clientip.KeyOf(a)})
		if err != nil || d.Verdict != line.Waiting {
			tb.Fatal(d.Verdict, err)
		}
		v := &pipeline.Visit{R: httptest.NewRequest("GET", fmt.Sprintf("/shop/item-%d?colour=blue&size=%d", i, i%7), nil)}
		v.R.Header.Set("User-Agent", fmt.Sprintf("Mozilla/5.0 (X11; Linux x86_64) Chrome/%d.0", 100+i%50))
		r.Placed(v, d.Place.Ticket)
	}
	for i := range clients {
		ip := fmt.Sprintf("172.16.%d.%d", i>>8, i&255)
		for n := range history.EntriesPerClient {
			v := &pipeline.Visit{R: httptest.NewRequest("GET", fmt.Sprintf("/find/%d/%d?q=shoes", i, n), nil), Start: now, Class: pipeline.Page}
			v.Client = clientip.Client{Addr: netip.MustParseAddr(ip), Key: clientip.KeyOf(netip.MustParseAddr(ip))}
			v.Hijacked(200)
			r.History.Observe(v)
		}
	}
	for i := range bans {
		a := netip.AddrFrom4([4]byte{192, 168, byte(i >> 8), byte(i)})
		if _, err := r.Abuse.Ban(abuse.Order{Client: clientip.KeyOf(a), For: time.Hour, By: "operator"}, now); err != nil {
			tb.Fatal(err)
		}
		r.History.Banned(history.Ban{Target: clientip.KeyOf(a), Since: now, Until: now.Add(time.Hour), Source: "operator"})
	}
	return s
}

// BenchmarkFragments: the server's work for one fragment with 100,000 waiting,
// 4,096 clients in the history with 100 requests each, and 5,000 bans. To be
// usable every three seconds, each has to stay below 50 ms. On a machine that has
// other things to do, cpu-ms/op is what to read.
func BenchmarkFragments(b *testing.B) {
	s := crowded(b, 100_000, history.MaxClients, history.MaxBans)
	keys := "&keys=" + strings.Join(s.ids(b, 200), ",")
	for _, name := range []string{
		"queue?page=1&size=100", "queue?page=1000&size=100", "queue?page=1&size=100" + keys, "queue?size=100&q=nobody", "queue?size=100&q=item-9&page=50",
		"find?q=10.1.134.159", "find?q=nonsense", "visitors?size=100", "visitors?page=40&size=100", "visitors?size=100&q=sesame", "visitor?client=172.16.3.3&size=100",
		"bans?size=100", "bans?page=50&size=100", "bans?q=nothing", "banlog?size=100", "banlog?page=50&size=100", "banlog?q=operator",
	} {
		title, _, _ := strings.Cut(name, "&keys=")
		if title != name {
			title += "&keys"
		}
		b.Run(title, func(b *testing.B) {
			s.repeat(b, "/api/frag/"+name)
		})
	}
	for _, target := range []string{"/", "/queue", "/settings", "/access", "/api/overview", "/api/series", "/api/bans/preview?client=10.0.0.0/8", "/api/history?q=sesame"} {
		b.Run(url.PathEscape(strings.TrimPrefix(target, "/")), func(b *testing.B) {
			s.repeat(b, target)
		})
	}
}

// repeat asks again and again, and reports the processor time of the process.
func (s *signed) repeat(b *testing.B, target string) {
	before := processorTime(b)
	for b.Loop() {
		if w := s.call("GET", target, ""); w.Code != 200 {
			b.Fatal(w.Code, w.Body)
		}
	}
	b.ReportMetric(float64((processorTime(b)-before).Microseconds())/1000/float64(b.N), "cpu-ms/op")
}

func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		b.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// ids are the first visitors in line.
func (s *signed) ids(tb testing.TB, n int) (ids []string) {
	tb.Helper()
	list, err := s.line.List(context.Background(), time.Now(), 0, n)
	if err != nil {
		tb.Fatal(err)
	}
	for _, o := range list {
		ids = append(ids, idOf(o.Place.Ticket.Number))
	}
	return ids
}

// BenchmarkPollsBesideASearch: a visitor's poll while operators go on filtering
// a line of 100,000, and without them.
func BenchmarkPollsBesideASearch(b *testing.B) {
	s := crowded(b, 100_000, 0, 0)
	list, err := s.line.List(context.Background(), time.Now(), 50_000, 1)
	if err != nil {
		b.Fatal(err)
	}
	t := list[0].Place.Ticket
	for _, searching := range []bool{false, true} {
		b.Run(fmt.Sprintf("searching=%v", searching), func(b *testing.B) {
			var stop atomic.Bool
			var wg sync.WaitGroup
			if searching {
				wg.Go(func() { // ends with the benchmark
					for !stop.Load() {
						s.call("GET", "/api/frag/queue?q=nobody", "")
					}
				})
			}
			var most time.Duration
			for b.Loop() {
				began := time.Now()
				if _, err := s.line.Poll(context.Background(), began, t); err != nil {
					b.Fatal(err)
				}
				most = max(most, time.Since(began))
			}
			b.ReportMetric(float64(most.Microseconds()), "most-µs")
			stop.Store(true)
			wg.Wait()
		})
	}
}

// BenchmarkPlaced is what the notes cost a visitor who is given a place.
func BenchmarkPlaced(b *testing.B) {
	r := newRig(b)
	v := visitOf("/shop/item-7?colour=blue", "Mozilla/5.0 (X11; Linux x86_64)")
	b.ReportAllocs()
	for i := uint64(1); b.Loop(); i++ {
		r.Placed(v, line.Ticket{Number: i})
	}
}
