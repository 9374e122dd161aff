package pipeline

import (
	"io"
	"net/http"
	"time"

	"github.com/andreimerlescu/concert/clientip"
	"github.com/andreimerlescu/concert/paths"
)

// Limits of what one visit can carry, inline so that it costs no allocation.
const (
	MaxHolds   = 6
	MaxEditors = 6
)

// Visit is the state of one request on its way through the stages. It is
// pooled: nothing may keep it, or W, after ServeHTTP returns.
type Visit struct {
	// W is where the response goes. It counts what is written; wrappers and
	// http.NewResponseController reach the connection through Unwrap.
	W http.ResponseWriter
	R *http.Request

	Start  time.Time       // when the request's header was read
	Client clientip.Client // who asks, by the trust rule
	Path   paths.Path      // the canonical path decision
	Class  Class           // set by the classify stage
	Room   string          // id of the inline room, "" for the default one; set by the classify stage
	Pass   Pass            // set by the pass stage
	Family Family          // the client's protocol family, set by the classify stage
	Rank   Rank            // set by the priority stage

	// Seated says that the visit holds a page slot already: the queue stage
	// lets it pass. Set by a stage before it that has slots of its own.
	Seated bool
	// VIP says that the visitor has paid to skip the line: a place given to
	// them is at its front. Set by the skip stage.
	VIP bool

	// Turned says that a banned client asked after their place and was told to load
	// the page, which is refused. Set by the ban stage.
	Turned bool

	// Waited is how long the request was held, at the door or in a lane.
	Waited time.Duration
	// OriginLatency is the time to the origin's response header; 0 when the
	// origin was not asked or did not answer. Set by the origin handler.
	OriginLatency time.Duration
	// Reason is why the visit was refused; zero when it was not.
	Reason Reason

	end      time.Time // see End
	rec      recorder
	refusal  Refusal       // see Refuse
	uploads  io.ReadCloser // the body of a client that may still be sending
	pipeline *Pipeline
	gen      *generation // what this visit goes by, whatever is swapped meanwhile
	debug    *trace      // non-nil when the client holds the admin token
	nholds   int
	holds    [MaxHolds]hold
	neditors int
	editors  [MaxEditors]ResponseEditor
}

type hold struct {
	from  Releaser
	token uint64
}

// Hold has token given back to from exactly once, last held first, after the
// response was delivered. It panics when more than MaxHolds are held.
func (v *Visit) Hold(from Releaser, token uint64) {
	v.holds[v.nholds] = hold{from, token}
	v.nholds++
}

// Holds returns how many things the visit holds now.
func (v *Visit) Holds() int { return v.nholds }

// OnResponse has e edit the header of the origin's response. It panics when
// more than MaxEditors are set.
func (v *Visit) OnResponse(e ResponseEditor) {
	v.editors[v.neditors] = e
	v.neditors++
}

// EditResponse runs the visit's editors in the order they were set. The origin
// handler calls it once, before it writes the final header.
func (v *Visit) EditResponse(status int, header http.Header) {
	for _, e := range v.editors[:v.neditors] {
		e.EditResponse(v, status, header)
	}
}

// Refuse returns a refusal with a wait of its own, for a stage to return at
// once. It belongs to the visit, so it costs no allocation.
func (v *Visit) Refuse(reason Reason, retryAfter time.Duration) *Refusal {
	v.refusal = Refusal{Reason: reason, RetryAfter: retryAfter}
	return &v.refusal
}

// Strike counts an act of the visit's client.
func (v *Visit) Strike(s Strike) { v.pipeline.strike(v, s) }

// Status is the response's status: 0 while none was sent, 499 when the client
// left before one could be.
func (v *Visit) Status() int { return v.rec.status }

// Bytes is how many bytes of body were written.
func (v *Visit) Bytes() int64 { return v.rec.bytes }

// Started reports whether the response's header has been sent.
func (v *Visit) Started() bool { return v.rec.status != 0 }

// Hijacked tells the pipeline that the connection was taken over, with the
// status that was sent on it (101).
func (v *Visit) Hijacked(status int) {
	v.rec.status = status
	v.rec.hijacked = true
}

// End is when the visit was over, for those who take back what it held, and for
// observers. The first who asks has the clock read, which costs as much as a
// stage; most visits to assets have nobody who asks.
func (v *Visit) End() time.Time {
	if v.end.IsZero() {
		v.end = time.Now()
	}
	return v.end
}

// release gives back everything held, last held first.
func (v *Visit) release() {
	for v.nholds > 0 {
		v.nholds--
		h := v.holds[v.nholds]
		v.holds[v.nholds] = hold{}
		h.from.Release(v, h.token)
	}
}
