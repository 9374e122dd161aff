package portal

import (
	"sync"
	"time"

	"github.com/andreimerlescu/concert/metrics"
	"github.com/andreimerlescu/concert/portal/view"
)

const (
	sampleEvery = 5 * time.Second
	samples     = int(time.Hour / sampleEvery)
)

// point is one measurement.
type point struct {
	at                   int64 // Unix milliseconds
	inFlight, cap        int
	waiting              int
	admissions           float64 // per second since the point before
	waitP50, waitP95     float64 // milliseconds; -1: nobody was let in
	originP50, originP95 float64 // milliseconds; -1: no answer
	refused              []float64
}

// moment is what counters stood at.
type moment struct {
	at           time.Time
	admitted     uint64
	wait, origin metrics.Counts
	refused      map[string]uint64
}

// series are the measurements of the last hour, a ring.
type series struct {
	mu     sync.Mutex // guards the fields below
	ring   []point
	next   int      // of ring, once it is full
	codes  []string // of refusals that came up, in the order of point.refused
	index  map[string]int
	before moment
}

// sample takes a measurement.
func (p *Portal) sample(now time.Time) {
	st := p.Line.Stats(now)
	m := moment{now, st.AdmittedTotal, p.Requests.Wait.Counts(), p.Requests.Origin.Counts(), p.Concert.Refused()}
	s := &p.series
	s.mu.Lock()
	defer s.mu.Unlock()
	pt := point{
		at: now.UnixMilli(), inFlight: st.InFlight, cap: st.Settings.Policy.Cap, waiting: st.Live,
		waitP50: -1, waitP95: -1, originP50: -1, originP95: -1,
	}
	if span := now.Sub(s.before.at).Seconds(); !s.before.at.IsZero() && span > 0 {
		pt.admissions = float64(m.admitted-s.before.admitted) / span
		pt.waitP50, pt.waitP95 = quantiles(p.Requests.Wait, s.before.wait, m.wait)
		pt.originP50, pt.originP95 = quantiles(p.Requests.Origin, s.before.origin, m.origin)
		pt.refused = s.ratesLocked(m.refused, span)
	}
	s.before = m
	p.pace.look(p.Concert.Rooms(), now)
	s.pushLocked(pt)
}

// quantiles are the median and the 95th percentile between two moments, in
// milliseconds.
func quantiles(h *metrics.Histogram, from, to metrics.Counts) (p50, p95 float64) {
	half, ok := h.QuantileSince(0.5, from, to)
	if !ok {
		return -1, -1
	}
	most, _ := h.QuantileSince(0.95, from, to)
	return half.Seconds() * 1000, most.Seconds() * 1000
}

// ratesLocked are the refusals per second, by the index of their code. Their
// codes are few: they come from a table.
func (s *series) ratesLocked(refused map[string]uint64, span float64) []float64 {
	if s.index == nil {
		s.index = make(map[string]int)
	}
	var rates []float64
	for code, n := range refused {
		more := n - s.before.refused[code]
		if more == 0 {
			continue
		}
		i, known := s.index[code]
		if !known {
			i = len(s.codes)
			s.index[code], s.codes = i, append(s.codes, code)
		}
		for len(rates) <= i {
			rates = append(rates, 0)
		}
		rates[i] = float64(more) / span
	}
	return rates
}

func (s *series) pushLocked(pt point) {
	if len(s.ring) < samples {
		s.ring = append(s.ring, pt)
		return
	}
	s.ring[s.next] = pt
	s.next = (s.next + 1) % samples
}

// since returns the measurements after a time in Unix milliseconds.
func (s *series) since(ms int64) view.Series {
	s.mu.Lock()
	defer s.mu.Unlock()
	none := func() []float64 { return []float64{} } // and not null
	v := view.Series{
		StepMS: sampleEvery.Milliseconds(), Refused: make(map[string][]float64, len(s.codes)),
		At: []int64{}, InFlight: none(), Cap: none(), Waiting: none(), Admissions: none(),
		WaitP50: none(), WaitP95: none(), OriginP50: none(), OriginP95: none(),
	}
	for _, code := range s.codes {
		v.Refused[code] = []float64{}
	}
	for i := range s.ring {
		if pt := &s.ring[(s.next+i)%len(s.ring)]; pt.at > ms {
			s.appendLocked(&v, pt)
		}
	}
	return v
}

func (s *series) appendLocked(v *view.Series, pt *point) {
	v.At = append(v.At, pt.at)
	v.InFlight = append(v.InFlight, float64(pt.inFlight))
	v.Cap = append(v.Cap, float64(pt.cap))
	v.Waiting = append(v.Waiting, float64(pt.waiting))
	v.Admissions = append(v.Admissions, pt.admissions)
	v.WaitP50, v.WaitP95 = append(v.WaitP50, pt.waitP50), append(v.WaitP95, pt.waitP95)
	v.OriginP50, v.OriginP95 = append(v.OriginP50, pt.originP50), append(v.OriginP95, pt.originP95)
	for i, code := range s.codes {
		rate := 0.0
		if i < len(pt.refused) {
			rate = pt.refused[i]
		}
		v.Refused[code] = append(v.Refused[code], rate)
	}
}
