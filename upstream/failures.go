package upstream

import (
	"log/slog"
	"sync"
	"time"

	"github.com/andreimerlescu/concert/pipeline"
)

// warnEvery is how often the log says that the origin fails. An origin that is
// down fails for everybody, and a log that grows by a line a request would fill
// the disk on the day it is needed; the access log and the metrics have each.
const warnEvery = time.Second

// failures warns of an origin that fails, without drowning the log.
type failures struct {
	mu     sync.Mutex // guards what follows
	warned time.Time
	silent int // failures since then that were not told
}

// warn logs err, or counts it for the next time.
func (f *failures) warn(log *slog.Logger, v *pipeline.Visit, reason pipeline.Reason, err error) {
	now := time.Now()
	f.mu.Lock()
	if now.Sub(f.warned) < warnEvery {
		f.silent++
		f.mu.Unlock()
		return
	}
	silent := f.silent
	f.warned, f.silent = now, 0
	f.mu.Unlock()
	log.Warn("origin failed", "method", v.R.Method, "path", v.Path.Clean, "reason", reason.Code(),
		"error", err, "not_logged_since", silent)
}
