package headroom

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

const (
	standard = 100     // the percentage that Go grows a heap by before it is collected
	least    = 4 << 20 // bytes: what Go takes a smaller heap for (https://go.dev/doc/gc-guide)
)

// keeper renews the setting after each collection.
type keeper struct {
	bytes uint64

	mu      sync.Mutex // guards the fields below
	samples []metrics.Sample
	percent int // in force
	stopped bool
}

// Keep has collections wait until bytes have been allocated, from now until
// stop is called. It does nothing when GOGC is other than 100.
func Keep(bytes uint64) (stop func()) {
	was := debug.SetGCPercent(-1)
	debug.SetGCPercent(was)
	if was != standard {
		return func() {}
	}
	k := &keeper{bytes: bytes, percent: standard, samples: []metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"},
	}}
	k.renew()
	k.await()
	return k.stop
}

// await has renew called at the end of the next collection: an object that
// nobody has any more is cleaned up then.
func (k *keeper) await() {
	type token struct{ _ [16]byte } // not a tiny object, which others could keep alive
	runtime.AddCleanup(new(token), func(k *keeper) {
		if k.renew() {
			k.await()
		}
	}, k)
}

// renew sets the percentage that makes up the headroom, and reports whether it
// is still wanted. The collector grows stacks and globals by it, too.
func (k *keeper) renew() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stopped {
		return false
	}
	metrics.Read(k.samples)
	var grows uint64
	for _, s := range k.samples {
		grows += s.Value.Uint64()
	}
	if percent := percentage(k.bytes, grows); percent != k.percent {
		k.percent = percent
		debug.SetGCPercent(percent)
	}
	return true
}

func (k *keeper) stop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stopped = true
	debug.SetGCPercent(standard)
}

// percentage is how much of itself what grows must add to have the headroom.
func percentage(headroom, grows uint64) int {
	return int(max(headroom*100/max(grows, least), standard))
}
