package queue

import (
	"net/http"
	"strconv"
	"time"

	"github.com/andreimerlescu/concert/line"
	"github.com/andreimerlescu/concert/pipeline"
	"github.com/andreimerlescu/concert/stages/queue/page"
)

// Header values that never change, shared by all responses: setting them
// allocates nothing. Nobody may write to these slices.
var (
	noStore       = []string{"no-store"}
	varyPreflight = []string{"Origin, Access-Control-Request-Method, Access-Control-Request-Headers"}
	jsonType      = []string{"application/json; charset=utf-8"}
	htmlType      = []string{"text/html; charset=utf-8"}
	closing       = []string{"close"}
	allowsStatus  = []string{"GET, HEAD, OPTIONS"}
	allowsLeave   = []string{"GET, HEAD, OPTIONS, POST"}
)

// private marks a response that is one visitor's, for now only.
var private = pipeline.NewFields(
	"Cache-Control", "no-store",
	"Vary", "Accept, Accept-Encoding, Accept-Language, Cookie",
	"X-Robots-Tag", "noindex",
	"X-Content-Type-Options", "nosniff",
)

const (
	// bufferSize is what a response buffer begins with: the built-in page fits,
	// compressed.
	bufferSize = 16 << 10
	// keepIdle is the longest pause between two requests of a visitor for which
	// an HTTP/1 connection is kept. An idle connection costs far more memory
	// than a place in line.
	keepIdle = 10 * time.Second
)

// setPlace tells the place in a header that every queued answer has, whatever
// its form: "position=12; eta=90", the wait in seconds, left out when it cannot
// be told.
func setPlace(v *pipeline.Visit, p *line.Place) {
	var buf [64]byte
	text := strconv.AppendInt(append(buf[:0], "position="...), int64(max(p.Position, 1)), 10)
	if p.ETA >= 0 {
		text = strconv.AppendInt(append(text, "; eta="...), page.Seconds(p.ETA), 10)
	}
	v.AddField("Concert-Queue", text)
}

// letGo ends the connection after the response when its client will not use it
// for a while. A trusted proxy's connection serves other visitors meanwhile,
// and on HTTP/2 the connection is the browser's only one.
func letGo(v *pipeline.Visit, pause time.Duration) {
	if pause > keepIdle && v.R.ProtoMajor == 1 && !v.Client.PeerTrusted {
		v.W.Header()["Connection"] = closing
	}
}

// send writes a whole response. The buffer goes back to the pool.
func (s *shared) send(v *pipeline.Visit, status int, buf *[]byte, body []byte) {
	v.W.Header()["Content-Length"] = pipeline.Number(len(body))
	v.W.WriteHeader(status)
	if v.R.Method != http.MethodHead {
		_, _ = v.W.Write(body) // the client may have left; there is nobody to tell
	}
	*buf = body
	s.buffers.Put(buf)
}

// buffer returns an empty buffer from the pool.
func (s *shared) buffer() (*[]byte, []byte) {
	buf := s.buffers.Get().(*[]byte)
	return buf, (*buf)[:0]
}
