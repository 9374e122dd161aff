package ban

import (
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/andreimerlescu/concert/abuse"
	"github.com/andreimerlescu/concert/paths"
	"github.com/andreimerlescu/concert/pipeline"
)

// Stage refuses banned clients. Use [New].
type Stage struct {
	registry *abuse.Registry
	settings atomic.Pointer[settings]
	rejected atomic.Uint64
}

var _ pipeline.Stage = (*Stage)(nil)

// weights are what acts add to a client's strikes.
var weights = [pipeline.NumStrikes]int{
	pipeline.StrikeForgedPass: 5, // browsers never alter a pass
	pipeline.StrikeAdminToken: 5, // somebody is guessing
	pipeline.StrikeUserPool:   1,
	pipeline.StrikeChurn:      1,
	pipeline.StrikeResets:     5, // hundreds in a moment, which no browser does
}

var (
	blocked = &pipeline.Refusal{Reason: pipeline.Blocked}

	ready       = []byte(`{"ready":true}`)
	readyLength = []string{"14"}
	jsonType    = []string{"application/json; charset=utf-8"}
	noStore     = []string{"no-store"}
)

// New builds the stage on a registry. The error says what is wrong with the
// cookie.
func New(r *abuse.Registry, c Config) (*Stage, error) {
	s := &Stage{registry: r}
	return s, s.Apply(c)
}

// Apply replaces the configuration; on an error it changes nothing.
func (s *Stage) Apply(c Config) error {
	made, err := newSettings(c)
	if err != nil {
		return err
	}
	s.settings.Store(made)
	return nil
}

// Name implements pipeline.Stage.
func (s *Stage) Name() string { return "ban" }

// Classes implements pipeline.Stage.
func (s *Stage) Classes() pipeline.Classes { return pipeline.AllClasses }

// Enter refuses a client that is banned, or now banned for the path it asks
// for.
func (s *Stage) Enter(v *pipeline.Visit) (pipeline.Verdict, error) {
	b := s.registry.Lookup(v.Client.Addr, v.Start)
	switch {
	case b == nil:
		if b = s.trap(v); b == nil {
			return pipeline.Next, nil
		}
	case isPoll(v):
		v.Turned = true
		return answerReady(v)
	default:
		s.rejected.Add(1)
	}
	if header := s.settings.Load().clearTicket(v.R); header != nil {
		v.W.Header()["Set-Cookie"] = header
	}
	if b.Permanent() {
		return pipeline.Answered, blocked
	}
	return pipeline.Answered, v.Refuse(pipeline.Banned, b.Remaining(v.Start))
}

// trap returns the ban of a client that asks for a ban path, or nil.
func (s *Stage) trap(v *pipeline.Visit) *abuse.Ban {
	table := s.settings.Load().paths
	if table == nil {
		return nil
	}
	if trapped, _ := table.Lookup(v.Path); !trapped {
		return nil
	}
	return s.registry.Trap(v.Client.Addr, v.Path.Clean, v.Start)
}

// Strike counts an act of the visit's client; it is for pipeline.Config.
func (s *Stage) Strike(v *pipeline.Visit, act pipeline.Strike) {
	// The visit may have waited long since it came, so its start is no use.
	s.registry.Strike(v.Client.Addr, act.String(), weights[act], time.Now())
}

// StrikeClient counts acts of a client that another instance saw.
func (s *Stage) StrikeClient(client netip.Addr, act pipeline.Strike, times int) {
	now := time.Now()
	for range min(times, mostTold) {
		s.registry.Strike(client, act.String(), weights[act], now)
	}
}

// mostTold bounds the acts of one client that are counted at once: more than
// any limit is worth.
const mostTold = 1000

// isPoll reports whether a waiting page asks after its visitor's place.
func isPoll(v *pipeline.Visit) bool {
	return v.Path.Clean == paths.QueueStatus && v.Path.Kind == paths.Plain &&
		(v.R.Method == http.MethodGet || v.R.Method == http.MethodHead)
}

// answerReady has a waiting page load again.
func answerReady(v *pipeline.Visit) (pipeline.Verdict, error) {
	h := v.W.Header()
	h["Content-Type"] = jsonType
	h["Cache-Control"] = noStore
	h["Content-Length"] = readyLength
	v.W.WriteHeader(http.StatusOK)
	if v.R.Method != http.MethodHead {
		_, _ = v.W.Write(ready) // the client may have left; there is nobody to tell
	}
	return pipeline.Answered, nil
}
