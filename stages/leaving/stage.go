package leaving

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/andreimerlescu/concert/internal/ticks"
	"github.com/andreimerlescu/concert/pipeline"
)

// maxResent is the longest body that a client is asked to send again, in
// bytes: as much as net/http reads behind the handler's back. With more of it
// on its way the connection could not be closed without losing the answer.
const maxResent = 256 << 10

// Stage sends pages on to the process that takes over. Use [New].
type Stage struct {
	config Config
	leaves atomic.Bool
}

var _ pipeline.Stage = (*Stage)(nil)

// New builds the stage of a process that stays. The error says what is wrong
// with c.
func New(c Config) (*Stage, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	return &Stage{config: c}, nil
}

// Name implements pipeline.Stage.
func (s *Stage) Name() string { return "leaving" }

// Classes implements pipeline.Stage.
func (s *Stage) Classes() pipeline.Classes { return pipeline.ClassesOf(pipeline.Page) }

// Enter sends the visit on when the process leaves: with the same method and
// body (RFC 9110, section 15.4.8).
func (s *Stage) Enter(v *pipeline.Visit) (pipeline.Verdict, error) {
	if !s.leaves.Load() || !sendable(v.R) {
		return pipeline.Next, nil
	}
	h := v.W.Header()
	h.Set("Location", v.R.RequestURI)
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", "0")
	v.W.WriteHeader(http.StatusTemporaryRedirect)
	return pipeline.Answered, nil
}

// sendable reports whether a client can be sent to a request's address again:
// a path that no browser takes for the name of another site, and a body that
// can be sent twice.
func sendable(r *http.Request) bool {
	uri := r.RequestURI
	return strings.HasPrefix(uri, "/") && (len(uri) == 1 || uri[1] != '/' && uri[1] != '\\') &&
		0 <= r.ContentLength && r.ContentLength <= maxResent && r.Header.Get("Upgrade") == ""
}

// Leave says that another process takes over, or with false that this one stays
// after all.
func (s *Stage) Leave(leaves bool) { s.leaves.Store(leaves) }

// Leaves reports whether another process takes over.
func (s *Stage) Leaves() bool { return s.leaves.Load() }

// Closing has every connection closed behind its next answer while the process
// leaves. To close those that are idle could cut off a request on its way.
func (s *Stage) Closing(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.leaves.Load() {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// Linger gives open connections the time for another request, if the process
// leaves because another one took over. It returns at the end of ctx.
func (s *Stage) Linger(ctx context.Context) {
	if !s.leaves.Load() {
		return
	}
	ticks.Pause(ctx, s.config.Linger)
}
