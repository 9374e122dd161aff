package memory

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/internal/cputime/cputest"
	"github.com/andreimerlescu/concert/line"
)

// fill is a line whose one slot is out and in which n visitors wait who have
// all polled.
func fill(tb testing.TB, n int) (*Line, []line.Ticket, time.Time) {
	tb.Helper()
	s := settings(1)
	s.DoorMax = 0
	l := newLine(s)
	now := start
	tickets := make([]line.Ticket, 0, n)
	for k := range n + 1 {
		now = now.Add(10 * time.Microsecond)
		if d, _ := l.Enter(tb.Context(), now, page(k)); d.Verdict == line.Waiting {
			tickets = append(tickets, d.Place.Ticket)
		}
	}
	if len(tickets) != n {
		tb.Fatalf("%d wait, want %d", len(tickets), n)
	}
	for _, k := range tickets {
		now = now.Add(10 * time.Microsecond)
		if st, _ := l.Poll(tb.Context(), now, k); !st.Known || st.Ready {
			tb.Fatalf("poll says %+v", st)
		}
	}
	return l, tickets, now
}

var sizes = []int{1000, 10_000, 100_000, 1_000_000}

func BenchmarkEnterRelease(b *testing.B) {
	l, e := newLine(settings(100)), page(1)
	now := start
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(time.Microsecond)
		d, _ := l.Enter(b.Context(), now, e)
		l.Release(now, d.Slot)
	}
}

// BenchmarkPoll has everybody poll about when they were told to.
func BenchmarkPoll(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			l, tickets, now := fill(b, n)
			step := min(time.Second/pollsPerSecond, maxPoll/time.Duration(n))
			k := 0
			poll := func() {
				now = now.Add(step)
				k = (k + 7919) % n
				if st, _ := l.Poll(b.Context(), now, tickets[k]); !st.Known {
					b.Fatal("ticket lost")
				}
			}
			for range n { // one round, after which all is as in the long run
				poll()
			}
			b.ReportAllocs()
			cputest.Report(b, func() {
				for b.Loop() {
					poll()
				}
			})
		})
	}
}

// BenchmarkJoin is a newcomer who gets a place and leaves it.
func BenchmarkJoin(b *testing.B) {
	l, _, now := fill(b, 100_000)
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(time.Microsecond)
		d, _ := l.Enter(b.Context(), now, page(1))
		_ = l.Quit(b.Context(), now, d.Place.Ticket) // never fails
	}
}

func BenchmarkList(b *testing.B) {
	l, _, now := fill(b, 1_000_000)
	for _, first := range []int{0, 999_900} {
		b.Run(fmt.Sprint(first), func(b *testing.B) {
			for b.Loop() {
				if all, _ := l.List(b.Context(), now, first, 100); len(all) != 100 {
					b.Fatalf("%d listed, want 100", len(all))
				}
			}
		})
	}
}

// BenchmarkMemory reports the live heap of a waiting ticket.
func BenchmarkMemory(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				var before, after runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				l, tickets, _ := fill(b, n)
				runtime.GC()
				runtime.ReadMemStats(&after)
				heap := int64(after.HeapAlloc) - int64(before.HeapAlloc) - int64(cap(tickets))*32
				b.ReportMetric(float64(heap)/float64(n), "B/ticket")
				runtime.KeepAlive(l)
				runtime.KeepAlive(tickets)
			}
		})
	}
}

// BenchmarkSweep is one locked part of a sweep over a million live tickets.
func BenchmarkSweep(b *testing.B) {
	l, _, now := fill(b, 1_000_000)
	l.set.TTL = 24 * time.Hour
	l.cursor = 1
	for b.Loop() {
		_, _ = l.Advance(b.Context(), now) // never fails
		if l.cursor == 0 {
			l.cursor = 1
		}
	}
}

// BenchmarkPurge is one locked part of a removal by client.
func BenchmarkPurge(b *testing.B) {
	l, _, now := fill(b, 1_000_000)
	nobody := clientOf(somebody(1 << 23))
	for b.Loop() {
		l.purge(now, nobody, nil, 1)
	}
}
