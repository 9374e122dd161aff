package priority

import (
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/pipeline"
)

// Stage ranks visitors and keeps the lane. Use [New].
type Stage struct {
	settings atomic.Pointer[settings]
	newest   newest
	lane     *lane
	odd      oddities
	counters counters
}

// The stage judges visits, edits responses, and takes back lane slots.
var (
	_ pipeline.Stage          = (*Stage)(nil)
	_ pipeline.ResponseEditor = (*Stage)(nil)
	_ pipeline.Releaser       = (*Stage)(nil)
)

var (
	badRequest = &pipeline.Refusal{Reason: pipeline.BadRequest}
	clientGone = &pipeline.Refusal{Reason: pipeline.ClientGone}
)

// New builds the stage. The error names every value that is out of bounds.
func New(c Config) (*Stage, error) {
	made, err := newSettings(c)
	if err != nil {
		return nil, err
	}
	s := &Stage{lane: newLane()}
	s.settings.Store(made)
	return s, nil
}

// Apply replaces the settings; when one is out of bounds it changes nothing
// and names it. The line must stay the same. Visits that wait already keep
// their old deadline.
func (s *Stage) Apply(c Config) error {
	made, err := newSettings(c)
	if err != nil {
		return err
	}
	s.settings.Store(made)
	now := time.Now()
	s.adjust(made, now, c.Line.Stats(now).Settings.Policy.Cap)
	return nil
}

// Name implements pipeline.Stage.
func (s *Stage) Name() string { return "priority" }

// Classes implements pipeline.Stage: only pages grant ranks and wait in line.
func (s *Stage) Classes() pipeline.Classes { return pipeline.ClassesOf(pipeline.Page) }

// Enter ranks the visit and finds a seat for it if it may use the lane.
func (s *Stage) Enter(v *pipeline.Visit) (pipeline.Verdict, error) {
	c := s.settings.Load()
	v.OnResponse(s)
	if g, ok := s.granted(c, v); ok {
		if s.newest.allows(&g) {
			v.Rank = g.rank
		} else {
			s.counters.outdated.Add(1)
		}
	}
	s.counters.ranks[v.Rank].Add(1)
	form := sends(v.R.Method)
	switch {
	case v.Rank >= c.LaneRank:
	case form && c.Forms && v.Pass.State == pipeline.PassValid:
	default:
		return pipeline.Next, nil
	}
	if form {
		s.counters.forms.Add(1)
	}
	return s.seat(c, v, form)
}

// sends reports whether a method carries something to the site that would be
// lost if the visitor had to wait on a page. OPTIONS, TRACE and methods of
// one's own invention do not count: they are a way around the line.
func sends(method string) bool {
	switch method {
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return true
	}
	return false
}

// passing reports whether a request is worth no wait: its sender looks, or
// loads a page on a mere suspicion that it will be wanted.
func passing(r *http.Request) bool {
	return r.Method == http.MethodHead || r.Header["Sec-Purpose"] != nil
}

// unsent refuses a form that got no slot.
func (s *Stage) unsent(c *settings, v *pipeline.Visit) (pipeline.Verdict, error) {
	s.counters.formsRefused.Add(1)
	return pipeline.Answered, v.Refuse(pipeline.FormNotSent, c.RetryAfter+rand.N(c.RetryAfter/2))
}

// Release implements pipeline.Releaser: it takes a slot of the lane back.
func (s *Stage) Release(v *pipeline.Visit, pass uint64) { s.lane.release(v.End(), pass) }

// pageSlots takes slots of the line back.
type pageSlots Stage

// Release implements pipeline.Releaser.
func (s *pageSlots) Release(v *pipeline.Visit, slot uint64) {
	s.settings.Load().Line.Release(v.End(), line.Slot(slot))
}
