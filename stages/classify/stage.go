package classify

import (
	"net/http"
	"sync/atomic"

	"github.com/andreimerlescu/concert/paths"
	"github.com/andreimerlescu/concert/pipeline"
)

// Stage classifies visits. Use [New].
type Stage struct {
	config atomic.Pointer[Config]
}

var _ pipeline.Stage = (*Stage)(nil)

var (
	badRequest = &pipeline.Refusal{Reason: pipeline.BadRequest}
	noConnect  = &pipeline.Refusal{Reason: pipeline.MethodNotAllowed}
	// Over HTTP/2 a browser may send it on a connection it had for another
	// name, and asks again on one of its own (RFC 9110, section 15.5.20).
	misdirected = &pipeline.Refusal{Reason: pipeline.WrongHost}

	closing = []string{"close"}
	// methods is what the server as a whole takes; the origin may take less.
	methods = []string{"GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"}
)

// New builds the stage. The error says what is wrong with c.
func New(c Config) (*Stage, error) {
	s := &Stage{}
	return s, s.Apply(c)
}

// Apply replaces the configuration; on an error it changes nothing.
func (s *Stage) Apply(c Config) error {
	if err := c.check(); err != nil {
		return err
	}
	s.config.Store(&c)
	return nil
}

// Name implements pipeline.Stage.
func (s *Stage) Name() string { return "classify" }

// Classes implements pipeline.Stage.
func (s *Stage) Classes() pipeline.Classes { return pipeline.AllClasses }

// Enter sets v.Class, v.Family and v.Room, or refuses what has no place anywhere.
func (s *Stage) Enter(v *pipeline.Visit) (pipeline.Verdict, error) {
	if mayHideBody(v.R) {
		v.W.Header()["Connection"] = closing
	}
	switch {
	case v.R.Method == http.MethodConnect:
		v.W.Header()["Allow"] = methods
		return pipeline.Answered, noConnect
	case v.Path.Kind == paths.Unreadable:
		if v.R.Method == http.MethodOptions && v.R.RequestURI == "*" {
			v.Class = pipeline.Operations
			return answerOptions(v)
		}
		return malformed(v)
	}
	c := s.config.Load()
	v.Class = c.class(v.Path)
	v.Family = c.family(v)
	switch {
	case v.Class == pipeline.Operations: // health checks ask by address
	case !goodHost(v.R):
		return malformed(v)
	case !c.Hosts.Empty() && !c.Hosts.Has(v.R.Host):
		return pipeline.Answered, misdirected
	}
	if c.Rooms != nil {
		v.Room = c.Rooms.Find(v.R.Host, v.Path)
	}
	return pipeline.Next, nil
}

// mayHideBody reports whether bytes of a body may follow that are taken for the
// next request: net/http ignores a Transfer-Encoding of HTTP/1.0, where it is an
// error (RFC 9112, section 6.1), and drops the field. Closing ends the doubt.
func mayHideBody(r *http.Request) bool {
	return r.ProtoMajor == 1 && r.ProtoMinor == 0 && r.Method != http.MethodGet && r.Method != http.MethodHead
}

func (c *Config) class(p paths.Path) pipeline.Class {
	if paths.Reserved(p) {
		return pipeline.Operations
	}
	if c.Table != nil {
		if class, listed := c.Table.Lookup(p); listed {
			return class
		}
	}
	return pipeline.Page
}

// answerOptions says what the server can do at all, as the target * asks.
func answerOptions(v *pipeline.Visit) (pipeline.Verdict, error) {
	v.W.Header()["Allow"] = methods
	v.W.WriteHeader(http.StatusNoContent)
	return pipeline.Answered, nil
}

func malformed(v *pipeline.Visit) (pipeline.Verdict, error) {
	if v.R.ProtoMajor == 1 {
		v.W.Header()["Connection"] = closing
	}
	return pipeline.Answered, badRequest
}
