package upstream

import (
	"context"
	"net/http"
	"sync"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/andreimerlescu/concert/pipeline"
)

var _ pipeline.Origin = (*Proxy)(nil)

// Proxy is the way to one origin. Build one with New.
type Proxy struct {
	cfg       Config
	scheme    string
	host      string
	prefix    string // of the upstream's path, without a slash at the end
	hostField string // the Host that is the origin's own
	transport http.RoundTripper
	plain     *client           // for HTTP/1.1 without TLS, in place of transport; else nil
	http2     http.RoundTripper // for an h2c origin, for all but upgrades; else nil
	closeIdle func()
	own       []string  // canonical names of Config.OwnFields
	buffers   sync.Pool // of *buffer
	exchanges sync.Pool // of *exchange
	streams   streams
	failures  failures
}

// buffer is what bodies are copied through.
type buffer [32 << 10]byte

// Serve carries the visit to the origin and its answer to v.W. The error is a
// *pipeline.Refusal; when the response had begun, it was not delivered whole.
func (p *Proxy) Serve(v *pipeline.Visit) error {
	target, err := p.admissible(v.R)
	if err != nil {
		return err
	}
	e := p.begin(v)
	defer e.finish()
	upgrade := upgradeWanted(v.R)
	var s *stream
	if upgrade != "" || v.Class == pipeline.Stream || wantsEvents(v.R.Header) {
		e.arm()
		e.holds = false
		s = p.streams.add(v.Client.Addr, func() { e.cancel(errStopping) })
		defer p.streams.remove(s)
	}
	began := time.Now()
	resp, err := e.roundTrip(target, upgrade)
	took := e.answer(began)
	if err == nil && e.left() {
		err = context.Cause(e.ctx) // there is nobody to take the answer
	}
	if err != nil {
		return e.failure(err)
	}
	v.OriginLatency = took
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return e.switched(resp, s, upgrade != "")
	}
	return e.relay(resp)
}

// admissible returns the target to ask the origin for, or refuses what cannot
// be put to it.
func (p *Proxy) admissible(r *http.Request) (string, error) {
	if r.Method == http.MethodConnect {
		return "", &pipeline.Refusal{Reason: pipeline.MethodNotAllowed}
	}
	target, err := originTarget(r)
	if err == nil && (r.Host == "" && p.cfg.PreserveHost || !httpguts.ValidHostHeader(r.Host)) {
		err = errHost
	}
	if err != nil {
		return "", &pipeline.Refusal{Reason: pipeline.BadRequest, Err: err}
	}
	if limit := p.cfg.MaxBody; limit > 0 && r.ContentLength > limit {
		return "", &pipeline.Refusal{Reason: pipeline.BodyTooLarge, Err: errBodySize}
	}
	if p.prefix != "" && target != "*" {
		target = p.prefix + target
	}
	return target, nil
}

// Close lets go of the idle connections to the origin. Exchanges under way are
// not disturbed; a Proxy can still be used.
func (p *Proxy) Close() { p.closeIdle() }
