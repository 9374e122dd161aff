package headroom

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
)

func TestPercentage(t *testing.T) {
	const mib = 1 << 20
	for _, tt := range []struct {
		headroom, grows uint64
		want            int
	}{
		{32 * mib, 0, 800}, {32 * mib, 1, 800}, {0, 0, 100}, {32 * mib, 4 * mib, 800}, {32 * mib, 30 * mib, 106},
		{32 * mib, 32 * mib, 100}, {32 * mib, 400 * mib, 100},
	} {
		if got := percentage(tt.headroom, tt.grows); got != tt.want {
			t.Errorf("percentage(%d, %d) = %d, want %d", tt.headroom, tt.grows, got, tt.want)
		}
	}
}

// goal is the size of the heap at which it is collected next.
func goal() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/goal:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

var kept []byte // is in use

func TestSmallHeapsGetHeadroom(t *testing.T) {
	const headroom = 16 << 20
	t.Cleanup(Keep(headroom))
	var got uint64
	for range 10_000 { // the cleanup has a goroutine of its own
		runtime.GC()
		if got = goal(); got >= headroom && got < 3*headroom {
			return
		}
	}
	t.Errorf("the next collection is at %d bytes, want it to be at some %d", got, headroom)
}

func TestLargeHeapsAreCollectedAsEver(t *testing.T) {
	const headroom, live = 8 << 20, 32 << 20
	kept = make([]byte, live)
	defer func() { kept = nil }()
	t.Cleanup(Keep(headroom))
	runtime.GC()
	if got := goal(); got < 2*live || got > 3*live {
		t.Errorf("the next collection is at %d bytes, want twice %d and a little", got, live)
	}
	runtime.KeepAlive(kept)
}

func TestOperatorsSettingStands(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	Keep(1 << 30)()
	if got := debug.SetGCPercent(50); got != 50 {
		t.Errorf("GOGC was 50 and is %d", got)
	}
}

func TestStopRestores(t *testing.T) {
	stop := Keep(1 << 30)
	runtime.GC()
	stop()
	runtime.GC()
	runtime.GC()
	if got := debug.SetGCPercent(standard); got != standard {
		t.Errorf("after the end GOGC is %d", got)
	}
}
