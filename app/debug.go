package app

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/stages/operations"
)

// Limits of the seconds that an operator may have Concert watched for.
const (
	profileSeconds    = 30 // unless the request says otherwise
	maxProfileSeconds = 120
)

// contentionSample is of how many lock contentions one is noted, and blockSample
// every how many nanoseconds of blocking one event is, while they are watched.
const (
	contentionSample = 10
	blockSample      = 10_000
)

// debugRoutes are the rows of the Go runtime's own tools: what `go tool pprof`
// and `go tool trace` read. They tell of code and addresses in memory, never of
// visitors, yet they cost time: admin only.
func debugRoutes() []operations.Route {
	get := []string{http.MethodGet}
	var watching sync.Mutex // held while the runtime is watched: it can be for one reader at a time
	row := func(name string, serve func(v *pipeline.Visit)) operations.Route {
		return operations.Route{Path: "/_room/debug/" + name, Methods: get, Admin: true, Serve: serve}
	}
	rows := []operations.Route{
		row("profile", watch(&watching, pprof.StartCPUProfile, pprof.StopCPUProfile)),
		row("trace", watch(&watching, trace.Start, trace.Stop)),
		row("mutex", watch(&watching, func(io.Writer) error {
			runtime.SetMutexProfileFraction(contentionSample)
			return nil
		}, func() { runtime.SetMutexProfileFraction(0) }, "mutex")),
		row("block", watch(&watching, func(io.Writer) error {
			runtime.SetBlockProfileRate(blockSample)
			return nil
		}, func() { runtime.SetBlockProfileRate(0) }, "block")),
	}
	for _, name := range []string{"heap", "allocs", "goroutine", "threadcreate"} {
		rows = append(rows, row(name, func(v *pipeline.Visit) { serveSnapshot(v, name) }))
	}
	return rows
}

// watch serves what the runtime notes between start and stop. A tool that does
// not write by itself leaves a profile of the given name.
func watch(watching *sync.Mutex, start func(io.Writer) error, stop func(), profile ...string) func(v *pipeline.Visit) {
	return func(v *pipeline.Visit) {
		seconds, err := number(v.R, "seconds", profileSeconds, 1, maxProfileSeconds)
		if err != nil {
			operations.WriteError(v, http.StatusBadRequest, err.Error())
			return
		}
		if !watching.TryLock() {
			operations.WriteError(v, http.StatusConflict, "Concert is being watched for somebody else: ask again later")
			return
		}
		defer watching.Unlock()
		setDownload(v)
		if err := start(v.W); err != nil {
			operations.WriteError(v, http.StatusConflict, fmt.Sprintf("start watching: %v", err))
			return
		}
		linger(v.R, time.Duration(seconds)*time.Second)
		stop()
		for _, name := range profile {
			_ = pprof.Lookup(name).WriteTo(v.W, 0) // the client may have left
		}
	}
}

// linger waits for d, or until the client leaves.
func linger(r *http.Request, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-r.Context().Done():
	}
}

// serveSnapshot answers with what the runtime knows now. debug=1 and debug=2
// make it text for people, and gc=1 collects garbage before, for a heap that
// shows only what is in use.
func serveSnapshot(v *pipeline.Visit, name string) {
	debug, err := number(v.R, "debug", 0, 0, 2)
	gc, err2 := number(v.R, "gc", 0, 0, 1)
	if err := errors.Join(err, err2); err != nil {
		operations.WriteError(v, http.StatusBadRequest, err.Error())
		return
	}
	if gc == 1 {
		runtime.GC()
	}
	setDownload(v)
	if debug > 0 {
		v.W.Header().Set("Content-Type", "text/plain; charset=utf-8")
	}
	_ = pprof.Lookup(name).WriteTo(v.W, debug) // the client may have left
}

func setDownload(v *pipeline.Visit) {
	h := v.W.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
}

// number returns a query parameter between least and most, and absent when
// there is none.
func number(r *http.Request, name string, absent, least, most int) (int, error) {
	values := r.URL.Query()[name]
	if len(values) == 0 {
		return absent, nil
	}
	n, err := strconv.Atoi(values[0])
	if err != nil || n < least || n > most || slices.ContainsFunc(values, func(s string) bool { return s != values[0] }) {
		return 0, fmt.Errorf("%s %q: want one number from %d to %d", name, values, least, most)
	}
	return n, nil
}
