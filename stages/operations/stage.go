package operations

import (
	"net/http"
	"strings"

	"github.com/andreimerlescu/concert/paths"
	"github.com/andreimerlescu/concert/pipeline"
)

// Stage answers the operations paths.
type Stage struct {
	token  TokenCheck
	routes map[string]*Route
	allow  map[string][]string // path to its Allow header
}

var _ pipeline.Stage = (*Stage)(nil)

// queuePrefix is where the queue stage's endpoints lie.
const queuePrefix = "/queue/"

var (
	challenge    = []string{`Bearer realm="concert"`}
	unauthorized = &pipeline.Refusal{Reason: pipeline.Unauthorized}
	off          = &pipeline.Refusal{Reason: pipeline.OperationsOff}
	notFound     = &pipeline.Refusal{Reason: pipeline.NotFound}
	wrongMethod  = &pipeline.Refusal{Reason: pipeline.MethodNotAllowed}
)

// New builds the stage. The error names every path that two routes have.
func New(c Config) (*Stage, error) {
	s := &Stage{token: NewTokenCheck(c.Token), routes: map[string]*Route{}, allow: map[string][]string{}}
	if err := c.check(); err != nil {
		return nil, err
	}
	for i := range c.Routes {
		r := &c.Routes[i]
		s.routes[r.Path] = r
		s.allow[r.Path] = []string{strings.Join(r.Methods, ", ")}
	}
	return s, nil
}

// Name implements pipeline.Stage.
func (s *Stage) Name() string { return "operations" }

// Classes implements pipeline.Stage.
func (s *Stage) Classes() pipeline.Classes { return pipeline.ClassesOf(pipeline.Operations) }

// Enter answers a request below /_room by its route.
func (s *Stage) Enter(v *pipeline.Visit) (pipeline.Verdict, error) {
	if v.Path.Kind != paths.Plain {
		// A front end may have closed /_room/ in its plain spelling only.
		return pipeline.Answered, notFound
	}
	route := s.routes[v.Path.Clean]
	switch {
	case route == nil && strings.HasPrefix(v.Path.Clean, queuePrefix):
		return pipeline.Next, nil
	case route == nil:
		return pipeline.Answered, notFound
	case route.Admin:
		if err := s.authorize(v); err != nil {
			return pipeline.Answered, err
		}
	}
	if !route.allows(v.R.Method) {
		v.W.Header()["Allow"] = s.allow[route.Path]
		return pipeline.Answered, wrongMethod
	}
	if v.R.ContentLength != 0 {
		v.R.Body = http.MaxBytesReader(v.W, v.R.Body, MaxBody)
	}
	route.Serve(v)
	return pipeline.Answered, nil
}

// authorize checks the admin token. A wrong one is a strike; a missing header
// is not, so that a health check aimed at the wrong path does not ban itself.
func (s *Stage) authorize(v *pipeline.Visit) error {
	if !s.token.Set() {
		return off
	}
	token, sent := Bearer(v.R.Header)
	if s.token.Matches(token) {
		return nil
	}
	if sent {
		v.Strike(pipeline.StrikeAdminToken)
	}
	v.W.Header()["Www-Authenticate"] = challenge
	return unauthorized
}
