package skip

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/andreimerlescu/concert/cookies"
	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/pipeline"
)

// Stage sells places. Use [New].
type Stage struct {
	settings atomic.Pointer[settings]

	mu     sync.Mutex           // guards the fields below; held over calls of the line, so that sales come one by one
	sales  recent[string, Sale] // by payment reference
	passes recent[uint64, owed] // by ticket number
	owing  atomic.Int32         // len(passes), for those who only want to know whether there are any

	places   recent[uint64, line.Ticket] // the last that each pass was used for
	reported recent[uint64, struct{}]    // passes that were seen with others

	promoted, repeated, refused, delivered, used, shared atomic.Uint64
}

// The stage judges visits and binds passes on the way out.
var (
	_ pipeline.Stage          = (*Stage)(nil)
	_ pipeline.ResponseEditor = (*Stage)(nil)
)

// owed is a pass that a ticket's owner has yet to get.
type owed struct{ until int64 } // unix seconds; 0 once they have it

// New builds the stage. The error names every value that is out of bounds.
func New(c Config) (*Stage, error) {
	made, err := newSettings(c)
	if err != nil {
		return nil, err
	}
	s := &Stage{}
	s.settings.Store(made)
	return s, nil
}

// Apply replaces the settings; when one is out of bounds it changes nothing
// and names it.
func (s *Stage) Apply(c Config) error {
	made, err := newSettings(c)
	if err != nil {
		return err
	}
	s.settings.Store(made)
	return nil
}

// Name implements pipeline.Stage.
func (s *Stage) Name() string { return "skip" }

// Classes implements pipeline.Stage: pages, and the waiting page's polls.
func (s *Stage) Classes() pipeline.Classes {
	return pipeline.ClassesOf(pipeline.Page, pipeline.Operations)
}

// Enter notes whether the visitor has a pass, and delivers one that is owed.
func (s *Stage) Enter(v *pipeline.Visit) (pipeline.Verdict, error) {
	if v.Class == pipeline.Operations && !strings.HasPrefix(v.Path.Clean, "/queue/") {
		return pipeline.Next, nil
	}
	c := s.settings.Load()
	p, own, strange := c.pass(v)
	v.VIP = own
	if c.PassTTL > 0 && s.owing.Load() > 0 {
		if own {
			s.arrived(&p)
		} else {
			s.deliver(c, v)
		}
	}
	if v.Class == pipeline.Page {
		s.judge(c, v, &p, strange)
	}
	if v.VIP {
		s.used.Add(1)
	}
	return pipeline.Next, nil
}

// judge finds out whether a pass is used by more than one, and has it follow
// its owner. p is the pass that the page visit brought, if any.
func (s *Stage) judge(c *settings, v *pipeline.Visit, p *vipPass, strange bool) {
	switch {
	case v.VIP && p.ticket != 0 && s.occupied(c, v, p):
		v.VIP, strange = false, true
	case v.VIP:
		v.OnResponse(s)
		strange = false
	}
	if strange {
		s.strange(c, v, p)
	}
}

// deliver sets the pass that is owed to the ticket the visit brings. It does so
// with every answer until the visitor shows the pass: an answer can be lost.
func (s *Stage) deliver(c *settings, v *pipeline.Visit) {
	if p, found := s.owedTo(c, v); found {
		c.setPass(v, v.W.Header(), p)
		v.VIP = true
		s.delivered.Add(1)
	}
}

// owedTo finds the pass that is owed to a ticket that the visit brings.
func (s *Stage) owedTo(c *settings, v *pipeline.Visit) (p vipPass, found bool) {
	for value := range cookies.Each(v.R.Header, c.TicketCookie) {
		t, authentic := c.Ticket(value)
		if !authentic {
			continue
		}
		s.mu.Lock()
		o, found := s.passes.get(t.Number)
		s.mu.Unlock()
		if found && o.until > v.Start.Unix() {
			return vipPass{ticket: t.Number, until: o.until}, true
		}
	}
	return p, false
}

// arrived notes that a pass's owner has it, so that it is owed no longer.
func (s *Stage) arrived(p *vipPass) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, found := s.passes.get(p.ticket); found {
		s.passes.put(p.ticket, owed{})
		s.settleLocked(time.Now())
	}
}

// Price is what a place costs with depth tickets in line, and what places of
// them cost together; both are 0 when nothing is for sale.
func (s *Stage) Price(places, depth int) (each, total float64) {
	each = s.settings.Load().price(depth)
	return each, cost(places, each)
}

func (c *settings) price(depth int) float64 { return c.Rate + float64(max(0, depth))*c.Surge }

// AppendRef appends the reference by which t can be promoted.
func (s *Stage) AppendRef(dst []byte, t line.Ticket) []byte {
	var payload [line.TicketSize]byte
	return s.settings.Load().Refs.AppendToken(dst, t.AppendBytes(payload[:0]))
}

// oweLocked remembers that a ticket's owner gets a pass, and forgets those that have
// run out.
func (s *Stage) oweLocked(ticket uint64, until int64, now time.Time) {
	s.passes.put(ticket, owed{until})
	s.settleLocked(now)
}

// settleLocked forgets passes that are owed no longer.
func (s *Stage) settleLocked(now time.Time) {
	s.passes.dropOldest(func(o owed) bool { return o.until <= now.Unix() })
	s.owing.Store(int32(len(s.passes.entries)))
}
