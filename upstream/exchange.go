package upstream

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"sync"
	"time"

	"github.com/andreimerlescu/concert/pipeline"
)

// exchange is one visit at the origin. One of our own client's that was neither
// armed nor had a body is used again: nobody else has got to know it. Others may
// still be looked at when Serve has returned.
type exchange struct {
	p      *Proxy
	v      *pipeline.Visit
	r      *http.Request // v.R, which may still be looked at when v may not
	rc     http.ResponseController
	ctx    context.Context         // the visitor's, until arm
	cancel context.CancelCauseFunc // of ctx; nil until arm
	cut    context.CancelCauseFunc // of outlive's context; nil without
	limit  time.Duration           // for each piece of the origin's body
	body   requestBody
	holds  bool // the visit has slots, which stand for work at the origin: see link.giveUp and outlive

	// With our own client, which uses them on Serve's goroutine:
	link       *link // nil with net/http's, and when it has been let go
	resp       http.Response
	answerBody originBody
	up         *upload // nil when there is no request body
	expects    bool    // the origin is asked whether it wants the body
	head       requestHead
	fields     http.Header // of resp, unless it is direct
	direct     bool        // the header of resp is the one of v.W

	// mu guards the fields below, and every use of v and rc from when the
	// round trip begins until over is set: the round tripper's goroutines read
	// the request body and relay informational answers, and the watch flushes.
	mu       sync.Mutex
	begun    bool // net/http's client has a connection: the origin may have the request
	answered bool // the final header is (being) sent: no informational ones any more
	over     bool // Serve has returned: v is another visit's
	fresh    bool // the write deadline was set a moment ago
	watch    watch
}

func (p *Proxy) begin(v *pipeline.Visit) *exchange {
	e := p.exchanges.Get().(*exchange)
	e.p, e.v, e.r, e.ctx, e.limit = p, v, v.R, v.R.Context(), p.cfg.IdleTimeout
	e.rc = *http.NewResponseController(v.W)
	e.holds = v.Holds() > 0 && p.cfg.HeaderTimeout > 0
	if v.Class == pipeline.Stream {
		e.limit = p.cfg.StreamIdleTimeout
	}
	return e
}

// arm makes the exchange one that can be given up before it is over.
func (e *exchange) arm() {
	if e.cancel == nil {
		e.ctx, e.cancel = context.WithCancelCause(e.r.Context())
	}
}

// left reports whether the visitor has left while the visit has slots.
func (e *exchange) left() bool {
	if !e.holds || e.r.Context().Err() == nil {
		return false
	}
	cause := context.Cause(e.ctx)
	return cause != nil && cause != errStopping && cause != errOriginSlow
}

// waits reports whether an exchange that is given up has still to wait for the
// origin.
func (e *exchange) waits() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.over && !e.answered && e.left()
}

// outlive is what net/http's client is given instead of ctx. It does not end when
// a visitor with slots leaves whose page the origin may be working on, since that
// would free the slots: the Transport ends an exchange without waiting for the
// other side, and an origin may go on. It ends when the time for the header is
// over, and with the exchange.
func (e *exchange) outlive() context.Context {
	ctx, cut := context.WithCancelCause(context.WithoutCancel(e.ctx))
	e.cut = cut
	context.AfterFunc(e.ctx, func() { // ctx ends with the exchange at the latest
		e.mu.Lock()
		begun := e.begun
		e.mu.Unlock()
		if !begun || !e.waits() {
			cut(context.Cause(e.ctx))
		}
	})
	return ctx
}

// connected notes that net/http's client has a connection.
func (e *exchange) connected(httptrace.GotConnInfo) {
	e.mu.Lock()
	e.begun = true
	e.mu.Unlock()
}

// finish ends the exchange: whatever still runs for it lets go of the visit,
// and an origin that is not done is cut off.
func (e *exchange) finish() {
	e.mu.Lock()
	e.over = true
	e.watch.stop()
	e.mu.Unlock()
	e.letGo()
	if e.cut != nil {
		e.cut(errDone)
	}
	if e.cancel != nil {
		e.cancel(errDone)
		return
	}
	exchanges := &e.p.exchanges
	e.head.trim()
	if len(e.fields) > manyFields {
		e.fields = nil
	}
	clear(e.fields)
	*e = exchange{head: e.head, fields: e.fields}
	exchanges.Put(e)
}

// request builds what net/http's round tripper is given.
func (e *exchange) request(target, upgrade string) *http.Request {
	in := e.r
	e.arm()
	u := &url.URL{Scheme: e.p.scheme, Host: e.p.host}
	setTarget(u, target)
	ctx := e.ctx
	if e.holds {
		ctx = e.outlive()
	}
	trace := &httptrace.ClientTrace{GotConn: e.connected, Got1xxResponse: func(status int, h textproto.MIMEHeader) error {
		return e.inform(status, http.Header(h))
	}}
	h := make(http.Header, len(in.Header)+4)
	e.p.requestHeader(h, e.v, upgrade)
	out := (&http.Request{
		Method:        in.Method,
		URL:           u,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        h,
		Host:          e.p.host,
		ContentLength: in.ContentLength,
	}).WithContext(httptrace.WithClientTrace(ctx, trace))
	if e.p.cfg.PreserveHost {
		out.Host = in.Host
	}
	switch {
	case in.ContentLength != 0:
		e.body.open(e)
		out.Body, out.Trailer = &e.body, e.body.trailer
	case in.Header["Content-Length"] != nil:
		// A stated length of zero stays stated, for every method.
		out.Body, out.TransferEncoding = http.NoBody, identity
	}
	if in.ContentLength < 0 {
		out.TransferEncoding = chunked // and is not guessed at by reading ahead
	}
	return out
}

var (
	identity = []string{"identity"}
	chunked  = []string{"chunked"}
)

// inform relays an informational answer of the origin. A 100 is not relayed:
// the visitor gets its own when its body is first read.
func (e *exchange) inform(status int, header http.Header) error {
	if status == http.StatusContinue || !e.r.ProtoAtLeast(1, 1) {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.answered || e.over {
		return nil
	}
	dropHops(header)
	e.p.dropOwn(header)
	e.informLocked(status, header)
	return nil
}

// informLocked writes an informational header of its own. What stages have set
// already belongs to the final one and stays for it.
func (e *exchange) informLocked(status int, header http.Header) {
	h := e.v.W.Header()
	kept := maps.Clone(h)
	clear(h)
	maps.Copy(h, header)
	e.v.W.WriteHeader(status)
	clear(h)
	maps.Copy(h, kept)
}

// answer closes the time of informational answers and of waiting for the
// header, and returns how long that took.
func (e *exchange) answer(began time.Time) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.answered = true
	e.watch.pause()
	return time.Since(began)
}
