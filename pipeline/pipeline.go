package pipeline

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/paths"
)

// Origin answers the visits that every stage let through.
type Origin interface {
	// Serve writes the origin's response to v.W. An error is a refusal, as
	// from a stage; it is only rendered when nothing was written yet,
	// otherwise the connection is cut so that the client sees the truncation.
	Serve(v *Visit) error
}

// Config is what a Pipeline is made of besides its stages.
type Config struct {
	Resolver *clientip.Resolver
	Origin   Origin
	Renderer *Renderer
	// Observers are told of every finished visit.
	Observers []Observer
	// Strikes, when set, is told of every act that counts against a client.
	Strikes func(v *Visit, s Strike)
	// Debug reports whether the request's sender may see the debug header;
	// nil means nobody.
	Debug func(r *http.Request) bool
	// WriteTimeout is how long a client may take for each piece of an answer
	// that no origin gives it; 0 sets no limit. The Origin has limits of its own.
	WriteTimeout time.Duration
	// Plain, when set, returns the connection of a request, or nil for one that
	// cannot do what a Plain does.
	Plain func(r *http.Request) Plain
	Log   *slog.Logger
}

// Plain is a connection that helps to answer; see listener.Plain.
type Plain = interface {
	// Gather has what is written wait for Send, so that a header and the body
	// behind it leave in one piece. It reports false if that is being done.
	Gather() bool
	Send() error
	// Head is where lines are put that go out with the header of the answer.
	Head() *[]byte
}

// Pipeline is the ordered slice of stages. Build one with New.
type Pipeline struct {
	current atomic.Pointer[generation]
	visits  sync.Pool // of *Visit
	strikes [NumStrikes]atomic.Uint64
	refused [NumReasons]atomic.Uint64
	panics  atomic.Uint64
	inside  atomic.Int64
}

// generation is what a Pipeline runs by. It never changes; Swap makes another.
type generation struct {
	cfg    Config
	stages []station
}

// New builds a pipeline; stages are entered in argument order. Names must be
// unique and not empty.
func New(cfg Config, stages ...Stage) (*Pipeline, error) {
	p := &Pipeline{}
	p.visits.New = func() any { return new(Visit) }
	p.current.Store(&generation{})
	return p, p.Swap(cfg, stages...)
}

// Swap has the visits from now on go by another configuration and other
// stages; those under way finish by the old ones. Counters go on: a stage
// keeps its own as long as its name stays. After an error nothing is changed.
func (p *Pipeline) Swap(cfg Config, stages ...Stage) error {
	counters := map[string]*counters{}
	for _, st := range p.current.Load().stages {
		counters[st.stage.Name()] = st.counters
	}
	next := &generation{cfg: cfg}
	seen := map[string]bool{"": true}
	var problems []error
	for i, s := range stages {
		if seen[s.Name()] {
			problems = append(problems, fmt.Errorf("pipeline: stage %d: name %q is empty or taken", i, s.Name()))
		}
		seen[s.Name()] = true
		next.stages = append(next.stages, newStation(s, counters[s.Name()]))
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	p.current.Store(next)
	return nil
}

// ServeHTTP carries one request through the stages.
func (p *Pipeline) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v := p.begin(w, r)
	defer p.end(v)
	p.run(v)
}

func (p *Pipeline) begin(w http.ResponseWriter, r *http.Request) *Visit {
	p.inside.Add(1)
	v := p.visits.Get().(*Visit)
	v.rec = recorder{ResponseWriter: w}
	v.W = &v.rec
	v.R = r
	v.pipeline = p
	v.gen = p.current.Load()
	v.rec.patience, v.rec.find, v.rec.request = v.gen.cfg.WriteTimeout, v.gen.cfg.Plain, r
	v.Start = time.Now()
	v.Client = v.gen.cfg.Resolver.Resolve(r.RemoteAddr, r.Header)
	v.Path = paths.Canonical(requestTarget(r))
	if v.gen.cfg.Debug != nil && r.Header[DebugHeader] != nil {
		v.debug = newTrace(v.gen.cfg.Debug(r))
	}
	v.uploads = openBody(w, r)
	return v
}

func (p *Pipeline) run(v *Visit) {
	for i := range v.gen.stages {
		st := &v.gen.stages[i]
		if !st.classes.Has(v.Class) {
			continue
		}
		verdict, err := st.enter(v)
		switch {
		case err != nil:
			p.refuse(v, err)
			return
		case verdict == Answered:
			return
		case verdict == Forward:
			p.forward(v)
			return
		}
	}
	p.forward(v)
}

// forward hands a visit that every stage let through to the origin.
func (p *Pipeline) forward(v *Visit) {
	if v.Class == Operations {
		p.refuse(v, &Refusal{Reason: NotFound}) // Concert's own paths never reach the origin
		return
	}
	if v.debug != nil {
		delete(v.W.Header(), DebugHeader) // informational responses go without
		v.OnResponse(v.debug)
	}
	if err := v.gen.cfg.Origin.Serve(v); err != nil {
		p.refuse(v, err)
	}
}

// refuse renders an error as a response.
func (p *Pipeline) refuse(v *Visit, err error) {
	f, known := errors.AsType[*Refusal](err)
	if !known {
		f = &Refusal{Reason: Internal, Err: err}
	}
	p.refused[f.Reason].Add(1)
	if f.Reason == Internal {
		v.gen.cfg.Log.Error("request failed", "method", v.R.Method, "path", v.Path.Clean, "client", v.Client.Addr, "error", err)
	}
	if v.rec.hijacked {
		return
	}
	if v.Started() {
		v.Reason = f.Reason
		panic(http.ErrAbortHandler)
	}
	if v.debug != nil {
		v.debug.EditResponse(v, f.Reason.Status(), v.W.Header())
	}
	v.gen.cfg.Renderer.Render(v, f)
	if f.Reason == ClientGone {
		// Returning would have net/http invent an empty 200 for a client that
		// only closed its sending side.
		panic(http.ErrAbortHandler)
	}
}

// end runs whatever happened: it delivers, releases, reports and recycles.
func (p *Pipeline) end(v *Visit) {
	failure := recover()
	if failure != nil && failure != http.ErrAbortHandler {
		failure = p.rescue(v, failure)
	}
	if failure == nil && v.nholds > 0 && !v.rec.hijacked {
		// The slot is free only once the client has the last byte. A client
		// that is gone makes this fail, which is just as final.
		_ = http.NewResponseController(v.rec.ResponseWriter).Flush()
	}
	v.release()
	for _, o := range v.gen.cfg.Observers {
		o.Observe(v)
	}
	p.inside.Add(-1)
	if failure != nil {
		panic(failure) // the Visit is left to the collector: a writer may still be in use
	}
	if v.rec.hijacked {
		return
	}
	v.drain()
	*v = Visit{}
	p.visits.Put(v)
}

// rescue answers a visit whose handler panicked, and returns what is to be
// panicked with instead: nothing when a response could still be written.
func (p *Pipeline) rescue(v *Visit, failure any) any {
	p.panics.Add(1)
	v.gen.cfg.Log.Error("BUG: a handler panicked", "method", v.R.Method, "path", v.Path.Clean, "panic", failure, "stack", string(debug.Stack()))
	p.refused[Internal].Add(1)
	v.Reason = Internal
	if v.Started() || v.rec.hijacked {
		return http.ErrAbortHandler
	}
	v.gen.cfg.Renderer.Render(v, &Refusal{Reason: Internal})
	return nil
}

func (p *Pipeline) strike(v *Visit, s Strike) {
	p.strikes[s].Add(1)
	if v.gen.cfg.Strikes != nil {
		v.gen.cfg.Strikes(v, s)
	}
}
