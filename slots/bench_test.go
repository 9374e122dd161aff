package slots

import (
	"testing"
	"time"

	"github.com/andreimerlescu/concert/internal/allocs"
)

func TestAllocsFastPath(t *testing.T) {
	g, shut := New(4), New(0)
	pools := newPools(8, 128)
	pools.Acquire(Key{1}, many, nil, 0) // make the pool
	tests := []struct {
		name string
		call func()
	}{
		{"gate taken", func() { g.Acquire(nil, time.Second); g.Release() }},
		{"gate refused", func() { shut.Acquire(nil, 0) }},
		{"pool taken", func() { l, _ := pools.Acquire(Key{1}, many, nil, time.Second); l.Release() }},
	}
	for _, tt := range tests {
		if n := allocs.PerRun(1000, tt.call); n != 0 {
			t.Errorf("%s: %v allocations, want 0", tt.name, n)
		}
	}
}

func BenchmarkGate(b *testing.B) {
	g := New(128)
	b.ReportAllocs()
	for b.Loop() {
		g.Acquire(nil, time.Second)
		g.Release()
	}
}

func BenchmarkGateRefused(b *testing.B) {
	g := New(0)
	b.ReportAllocs()
	for b.Loop() {
		g.Acquire(nil, 0)
	}
}

func BenchmarkGateParallel(b *testing.B) {
	g := New(1 << 20)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			g.Acquire(nil, time.Second)
			g.Release()
		}
	})
}

// BenchmarkGateHandOver has more callers than slots, so that nearly every slot
// is handed from a holder to a waiter.
func BenchmarkGateHandOver(b *testing.B) {
	g := New(1)
	b.ReportAllocs()
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			g.Acquire(nil, time.Hour)
			g.Release()
		}
	})
}

// BenchmarkGate1000Waiting measures a turn of a line of a thousand: the first
// is let in, another joins, one joins and leaves.
func BenchmarkGate1000Waiting(b *testing.B) {
	g := New(1)
	for range 1001 {
		g.enter()
	}
	b.ReportAllocs()
	for b.Loop() {
		g.Release()
		g.enter()
		g.leave(g.enter())
	}
}

// BenchmarkGateSetCap shows that resizing costs in proportion to the slots held.
func BenchmarkGateSetCap(b *testing.B) {
	g := New(55_552)
	for range 10_000 {
		g.TryAcquire()
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		g.SetCap(20_000 + i%2)
	}
}

func BenchmarkPools(b *testing.B) {
	pools := newPools(8, 128)
	keys := make([]Key, 10_000)
	for i := range keys {
		keys[i] = Key{0: byte(i), 1: byte(i >> 8), 15: byte(i)}
		l, _ := pools.Acquire(keys[i], many, nil, 0)
		l.Release()
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		l, _ := pools.Acquire(keys[i%len(keys)], many, nil, time.Second)
		l.Release()
	}
}

func BenchmarkPoolsNewKey(b *testing.B) {
	pools := newPools(8, 128)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		key := Key{0: byte(i), 1: byte(i >> 8), 2: byte(i >> 16), 15: byte(i)}
		l, _ := pools.Acquire(key, many, nil, 0)
		l.Release()
	}
}
