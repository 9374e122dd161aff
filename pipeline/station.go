package pipeline

import (
	"sync/atomic"
	"time"
)

// sampleEvery is how many visits share one time measurement of a stage: reading
// the clock twice costs more than most stages do.
const sampleEvery = 64

// station is a stage in its place.
type station struct {
	stage   Stage
	classes Classes
	*counters
}

// counters are a stage's; they outlive the station.
type counters struct {
	entered  atomic.Uint64
	answered atomic.Uint64
	refused  atomic.Uint64
	sampled  atomic.Uint64 // nanoseconds over the sampled visits
	samples  atomic.Uint64
}

// newStation puts a stage in its place; kept are the counters it had before,
// nil when it is new.
func newStation(s Stage, kept *counters) station {
	if kept == nil {
		kept = new(counters)
	}
	return station{s, s.Classes(), kept}
}

// enter lets the stage judge v and counts the outcome.
func (s *station) enter(v *Visit) (Verdict, error) {
	n := s.entered.Add(1)
	measured := v.debug != nil || n%sampleEvery == 1
	var began time.Time
	held := v.nholds
	if v.debug != nil {
		v.debug.announce(v, s.stage.Name())
	}
	if measured {
		began = time.Now()
	}
	verdict, err := s.stage.Enter(v)
	if measured {
		s.measure(v, time.Since(began), v.nholds-held)
	}
	switch {
	case err != nil:
		s.refused.Add(1)
	case verdict == Answered:
		s.answered.Add(1)
	}
	return verdict, err
}

func (s *station) measure(v *Visit, took time.Duration, held int) {
	s.sampled.Add(uint64(took))
	s.samples.Add(1)
	if v.debug != nil {
		v.debug.note(s.stage.Name(), took, held)
	}
}

// StageStats are one stage's counters, in pipeline order.
type StageStats struct {
	Name     string  `json:"name"`
	Entered  uint64  `json:"entered_total"`
	Answered uint64  `json:"answered_total"`
	Refused  uint64  `json:"refused_total"`
	MeanUS   float64 `json:"mean_us"` // mean time in the stage, sampled
}

// Stats are a pipeline's counters.
type Stats struct {
	Stages  []StageStats
	Refused [NumReasons]uint64
	Strikes [NumStrikes]uint64
	Panics  uint64
	Inside  int64 // visits being served now
}

// Stats reads the counters.
func (p *Pipeline) Stats() Stats {
	st := Stats{Panics: p.panics.Load(), Inside: p.inside.Load()}
	for _, s := range p.current.Load().stages {
		st.Stages = append(st.Stages, s.stats())
	}
	for i := range st.Refused {
		st.Refused[i] = p.refused[i].Load()
	}
	for i := range st.Strikes {
		st.Strikes[i] = p.strikes[i].Load()
	}
	return st
}

func (s *station) stats() StageStats {
	out := StageStats{Name: s.stage.Name(), Entered: s.entered.Load(), Answered: s.answered.Load(), Refused: s.refused.Load()}
	if n := s.samples.Load(); n > 0 {
		out.MeanUS = float64(s.sampled.Load()) / float64(n) / 1000
	}
	return out
}
