package queue

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/andreimerlescu/concert/line"
)

// gaugeAge is how old a reading may be.
const gaugeAge = time.Second

// gauge keeps figures of the line that every poll shows, so that not every poll
// asks for them.
type gauge struct {
	next  atomic.Int64  // Unix time in nanoseconds when a new reading is due
	value atomic.Uint64 // float64 bits
	shut  atomic.Bool
	live  atomic.Int64
}

// read returns the line's utilization, whether nobody is let in for now, and the
// tickets in line, all at most gaugeAge old.
func (g *gauge) read(now time.Time, l line.Line) (utilization float64, paused bool, depth int) {
	due := g.next.Load()
	if now.UnixNano() >= due && g.next.CompareAndSwap(due, now.Add(gaugeAge).UnixNano()) {
		st := l.Stats(now)
		g.value.Store(math.Float64bits(st.Utilization))
		g.shut.Store(st.Settings.Mode != line.Open)
		g.live.Store(int64(st.Live))
	}
	return math.Float64frombits(g.value.Load()), g.shut.Load(), int(g.live.Load())
}
