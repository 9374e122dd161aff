package portal

import (
	"maps"
	"time"

	"github.com/andreimerlescu/concert/persist"
	"github.com/andreimerlescu/concert/portal/view"
)

// Left is what a portal leaves to that of the process which takes over. Browsers
// and paths of those in line are not in it: they come back with the next page
// each of them loads.
type Left struct {
	Series   view.Series            `json:"series"`
	Kicked   map[uint64]time.Time   `json:"kicked,omitempty"`
	Sessions []persist.SavedSession `json:"sessions,omitempty"`
}

// Leave returns what the next portal goes on from. Requests should be sent on
// already: see Concert.Leaving.
func (p *Portal) Leave() *Left {
	l := &Left{Series: p.series.since(0), Sessions: p.sessions.saved()}
	p.kicked.mu.Lock()
	defer p.kicked.mu.Unlock()
	l.Kicked = maps.Clone(p.kicked.until)
	return l
}

// inherit takes up what a predecessor left.
func (p *Portal) inherit(l *Left, now time.Time) {
	if l == nil {
		return
	}
	p.series.restore(&l.Series)
	for number, until := range l.Kicked {
		p.kicked.add(number, until)
	}
	p.sessions.mu.Lock()
	defer p.sessions.mu.Unlock()
	clear(p.sessions.all) // the file is of the same sessions, or of before a full disk
	for _, s := range l.Sessions {
		p.sessions.restore(s, now)
	}
}

// restore takes up the measurements of another process. What is not of one piece
// is left out.
func (s *series) restore(v *view.Series) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(v.At)
	for _, all := range [][]float64{v.InFlight, v.Cap, v.Waiting, v.Admissions, v.WaitP50, v.WaitP95, v.OriginP50, v.OriginP95} {
		if len(all) != n {
			return
		}
	}
	s.index = make(map[string]int)
	for code, rates := range v.Refused {
		if len(rates) == n {
			s.index[code], s.codes = len(s.codes), append(s.codes, code)
		}
	}
	for i := max(0, n-samples); i < n; i++ {
		pt := point{
			at: v.At[i], inFlight: int(v.InFlight[i]), cap: int(v.Cap[i]), waiting: int(v.Waiting[i]), admissions: v.Admissions[i],
			waitP50: v.WaitP50[i], waitP95: v.WaitP95[i], originP50: v.OriginP50[i], originP95: v.OriginP95[i],
		}
		for _, code := range s.codes {
			pt.refused = append(pt.refused, v.Refused[code][i])
		}
		s.pushLocked(pt)
	}
}
