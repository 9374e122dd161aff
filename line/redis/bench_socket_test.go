package redisline

import (
	"fmt"
	"testing"
	"time"

	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/line/redis/redistest"
)

// fill puts n tickets in line by way of Restore.
func fill(tb testing.TB, l *Line, n int) []line.Ticket {
	tb.Helper()
	now := time.Now()
	first := uint64(now.Add(-time.Hour).UnixMicro())
	s := line.Snapshot{Taken: now}
	out := make([]line.Ticket, n)
	for k := range n {
		out[k] = line.Ticket{Number: first + uint64(k), Issued: now.Add(-time.Minute)}
		s.Tickets = append(s.Tickets, line.SavedTicket{Ticket: out[k], LastSeen: now, Polled: true, Client: client(k)})
	}
	if err := l.Restore(tb.Context(), now, s, false); err != nil {
		tb.Fatal(err)
	}
	return out
}

func BenchmarkPoll(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			l := join(b, redistest.Start(b), "a", 50)
			all := fill(b, l, n)
			k := 0
			for b.Loop() {
				k = (k + 7919) % n
				if st, err := l.Poll(b.Context(), time.Now(), all[k]); err != nil || !st.Known {
					b.Fatal(st, err)
				}
			}
		})
	}
}

func BenchmarkPollParallel(b *testing.B) {
	l := join(b, redistest.Start(b), "a", 50)
	all := fill(b, l, 10000)
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		k := 0
		for pb.Next() {
			k = (k + 7919) % len(all)
			if st, err := l.Poll(b.Context(), time.Now(), all[k]); err != nil || !st.Known {
				b.Error(st, err)
			}
		}
	})
}

func BenchmarkAdmitQuickly(b *testing.B) {
	l := join(b, redistest.Start(b), "a", 1000)
	b.ReportAllocs()
	before := l.Fleet().Calls
	for b.Loop() {
		d, err := l.Enter(b.Context(), time.Now(), line.Entry{Client: client(1), MayHold: true})
		if err != nil || d.Verdict != line.Admitted {
			b.Fatal(d, err)
		}
		l.Release(time.Now(), d.Slot)
	}
	b.ReportMetric(float64(l.Fleet().Calls-before)/float64(b.N), "calls/op")
}

func BenchmarkAdmitAsking(b *testing.B) {
	l := join(b, redistest.Start(b), "a", 1000)
	fill(b, l, 1000)
	for b.Loop() {
		d, err := l.Enter(b.Context(), time.Now(), line.Entry{Client: client(1), MayHold: true})
		if err != nil {
			b.Fatal(d, err)
		}
		if d.Verdict == line.Admitted {
			l.Release(time.Now(), d.Slot)
		}
	}
}
