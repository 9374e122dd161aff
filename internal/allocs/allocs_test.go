package allocs

import (
	"sync"
	"testing"

	"github.com/andreimerlescu/concert/internal/parts"
)

var kept []byte

// TestPerRun: a busy moment is forgiven, an allocation in every call is not.
func TestPerRun(t *testing.T) {
	calls := 0
	busy := func() {
		if calls++; calls < 100 {
			kept = make([]byte, calls)
			kept = append(kept, make([]byte, 64)...)
		}
	}
	if n := PerRun(50, busy); n != 0 {
		t.Errorf("busy at first: %v", n)
	}
	want := 1.0
	if parts.Raced() {
		want = 0
	}
	if n := PerRun(50, func() { kept = make([]byte, 64) }); n != want {
		t.Errorf("in every call: %v, want %v", n, want)
	}
	pool := sync.Pool{New: func() any { return new([64]byte) }}
	if n := PerRun(1000, func() {
		for range 9 {
			pool.Put(pool.Get())
		}
	}); n != 0 {
		t.Errorf("from a pool: %v", n)
	}
}
