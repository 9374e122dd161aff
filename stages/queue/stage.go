package queue

import (
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/paths"
	"github.com/andreimerlescu/concert/pipeline"
)

// Stage is the waiting room. Build it with New.
type Stage struct {
	*shared
	live atomic.Pointer[settings]
}

// shared is what outlives a change of the configuration.
type shared struct {
	buffers sync.Pool // of *[]byte

	origins     *http.CrossOriginProtection
	polls       paceTable
	twins       twinTable
	utilization gauge
	preflights  preflightTable
	counters    counters
}

// settings are what one configuration comes to. They never change: a visit
// goes by those it began with, whatever is applied meanwhile.
type settings struct {
	*shared
	cfg                       Config
	page, farewell, noCookies *documents

	ticketCookie    string // its name
	hint, statusURL []byte // of the answer to programs

	cookies  cookieSet
	refusals refusals
	retry    []string // Config.RetryAfter as a header value
	messages messages
	// lenientUntil is when those who bring a ticket signed by a key not known
	// here begin to count as if they brought none. Until then they may have got
	// it before a restart that made up a new secret. Zero with Config.Settled.
	lenientUntil time.Time
}

// A Stage is a stage; its settings take slots back.
var (
	_ pipeline.Stage    = (*Stage)(nil)
	_ pipeline.Releaser = (*settings)(nil)
)

// New builds the stage. All problems of the configuration are reported at
// once.
func New(c Config) (*Stage, error) {
	s := &Stage{shared: &shared{origins: http.NewCrossOriginProtection()}}
	s.buffers.New = func() any { b := make([]byte, 0, bufferSize); return &b }
	if err := s.Apply(c); err != nil {
		return nil, err
	}
	return s, nil
}

// Apply has the visits from now on go by another configuration; those under way
// finish by the old one. Counters and what is remembered of visitors go on. The
// line stays the same: what can change about it is for [line.Line.Configure].
// After an error nothing is changed.
func (s *Stage) Apply(c Config) error {
	if old := s.live.Load(); old != nil && old.cfg.Line != c.Line {
		return errors.New("queue: the line cannot be exchanged while visitors are in it")
	}
	next, err := newSettings(s.shared, c)
	if err != nil {
		return err
	}
	if old := s.live.Load(); old != nil && next.knows(old) {
		next.lenientUntil = old.lenientUntil
	}
	s.live.Store(next)
	return nil
}

// knows reports whether tickets issued under the old settings are authentic
// under s.
func (s *settings) knows(old *settings) bool {
	sample := old.appendTicket(nil, line.Ticket{Number: 1, Issued: time.UnixMilli(1)})
	_, authentic := s.parseTicket(string(sample))
	return authentic
}

// Name implements pipeline.Stage.
func (s *Stage) Name() string { return "queue" }

// Classes implements pipeline.Stage.
func (s *Stage) Classes() pipeline.Classes {
	return pipeline.ClassesOf(pipeline.Page, pipeline.Operations)
}

// Enter admits a page request, or answers it; and answers the endpoints. Other
// spellings of their paths are passed on, to be answered as not found: somebody
// in front of Concert may have closed the plain one only.
func (s *Stage) Enter(v *pipeline.Visit) (pipeline.Verdict, error) {
	now := s.live.Load()
	switch {
	case v.Class == pipeline.Page:
		return now.enterPage(v)
	case v.Path.Kind != paths.Plain:
		return pipeline.Next, nil
	case v.Path.Clean == StatusPath:
		return now.enterStatus(v)
	case v.Path.Clean == LeavePath:
		return now.enterLeave(v)
	case v.Path.Clean == returnPath:
		return now.enterReturn(v)
	}
	return pipeline.Next, nil
}

// EnterGone answers the endpoints for a room that is no longer there: its page
// is told to come, and finds out what there is instead.
func (s *Stage) EnterGone(v *pipeline.Visit) (pipeline.Verdict, error) {
	now, reads := s.live.Load(), v.R.Method == http.MethodGet || v.R.Method == http.MethodHead
	switch {
	case v.Path.Clean == StatusPath && reads:
		now.sendFixed(v, answerReady)
		return pipeline.Answered, nil
	case v.Path.Clean == LeavePath && v.R.Method == http.MethodPost:
		return pipeline.Answered, now.left(v) // there is no place to give up, and that in another line stays
	}
	return s.Enter(v)
}

// Release implements pipeline.Releaser: it gives a slot back to the line.
func (s *settings) Release(v *pipeline.Visit, token uint64) {
	s.cfg.Line.Release(v.End(), line.Slot(token))
}
